/**
 * Compares API versions by Kubernetes' priority, best first: v2, v1, v2beta1, v1beta2, v1alpha1;
 * other names last, lexicographically.
 */
export function compareApiVersions(a: string, b: string): number {
  if (a === b) return 0;
  const left = parseApiVersion(a);
  const right = parseApiVersion(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : 1;
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor || (a < b ? -1 : 1);
}

/** Compares server versions (`v1.36.4`), newest first; an unknown version is the oldest. */
export function compareServerVersions(a: string, b: string): number {
  const left = parseServerVersion(a);
  const right = parseServerVersion(b);
  for (let i = 0; i < 3; i++) {
    const difference = right[i]! - left[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns whether server version `a` is newer than `b`, both being known. */
export function isNewerServerVersion(a: string, b: string): boolean {
  return isServerVersion(b) && compareServerVersions(a, b) < 0;
}

/** Returns whether a text is the version of a server, as in `gitVersion`. */
export function isServerVersion(text: string): boolean {
  return parseServerVersion(text)[0]! >= 0;
}

const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1, '': 2 };

function parseApiVersion(version: string) {
  const match = /^v([0-9]{1,9})(?:(alpha|beta)([0-9]{1,9}))?$/.exec(version);
  if (!match) return undefined;
  return { major: Number(match[1]), stability: STABILITY[match[2] ?? '']!, minor: Number(match[3] ?? 0) };
}

function parseServerVersion(version: string): readonly number[] {
  const match = /^v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?/.exec(version);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : [-1, -1, -1];
}
