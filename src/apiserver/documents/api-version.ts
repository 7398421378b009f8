const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1, '': 2 };

/**
 * Kubernetes' priority of API versions, for sorting, best first: stable before beta before alpha, higher numbers first;
 * names that are no such version come last, by name.
 */
export function compareApiVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [parse(left), parse(right)];
  if (a === undefined || b === undefined) return a ? -1 : b ? 1 : left < right ? -1 : 1;
  return b.stability - a.stability || b.major - a.major || b.minor - a.minor || (left < right ? -1 : 1);
}

function parse(version: string) {
  const match = /^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$/.exec(version);
  if (match === null) return undefined;
  return { major: Number(match[1]), stability: STABILITY[match[2] ?? '']!, minor: Number(match[3] ?? 0) };
}
