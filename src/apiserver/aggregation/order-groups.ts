import type { GroupDiscovery, VersionDiscovery } from '../../kube/discovery.js';

/** `[groupPriorityMinimum, versionPriority]` of a group-version. */
export type PriorityOf = (group: string, version: string) => readonly [number, number];

/**
 * Groups and their versions in the order that APIServices give them: higher priorities first, a group by the highest of
 * its versions; then groups by name and versions as Kubernetes orders them (v2, v1, v1beta2, v1beta1, v1alpha1, others).
 */
export function orderGroups(groups: readonly GroupDiscovery[], priorityOf: PriorityOf): GroupDiscovery[] {
  const ranked = groups.map((group) => {
    const name = group.metadata.name ?? '';
    const versions = [...(group.versions ?? [])].sort(
      (left, right) =>
        priorityOf(name, right.version)[1] - priorityOf(name, left.version)[1] ||
        compareVersions(left.version, right.version),
    );
    const priority = Math.max(...versions.map(({ version }) => priorityOf(name, version)[0]), 0);
    return { name, priority, group: { ...group, versions } };
  });
  ranked.sort((left, right) => right.priority - left.priority || (left.name < right.name ? -1 : 1));
  return ranked.map(({ group }) => group);
}

/** Two lists of groups as one; where both have a version, that of `over` counts. */
export function mergeGroups(under: readonly GroupDiscovery[], over: readonly GroupDiscovery[]): GroupDiscovery[] {
  const merged = new Map<string, Map<string, VersionDiscovery>>();
  for (const { metadata, versions } of [...under, ...over]) {
    const name = metadata.name ?? '';
    const known = merged.get(name) ?? new Map<string, VersionDiscovery>();
    for (const version of versions ?? []) known.set(version.version, version);
    merged.set(name, known);
  }
  return [...merged].map(([name, versions]) => ({
    metadata: name === '' ? { creationTimestamp: null } : { name, creationTimestamp: null },
    versions: [...versions.values()],
  }));
}

/** Negative where `left` comes first. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [versionRank(left), versionRank(right)];
  if (!a || !b) return a ? -1 : b ? 1 : left < right ? -1 : left > right ? 1 : 0;
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
}

/** Stability first, then the major number, then the minor one. */
function versionRank(version: string): readonly [number, number, number] | undefined {
  const [, major, stage, minor] = /^v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor ?? 0)];
}
