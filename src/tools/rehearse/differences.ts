import type { GroupDiscovery } from '../../kube/discovery.js';
import { gvrKey } from '../../kube/gvr.js';
import { type ResourceKind, resourceKindsOf } from '../../kube/resource-kind.js';
import { type ServedResource, servedResources } from '../../kube/surface.js';
import { lackingText, surfaceMatrix } from '../../kube/surface-matrix.js';

/** A resource, subresource or verb that one of two versions serves and the other does not. */
export interface Difference {
  /** As `straddle diff` writes it: `csinodes.v1.storage.k8s.io/status`, with the verbs if only some of them are lacking. */
  readonly name: string;
  /** The resource, or that of the subresource. */
  readonly kind: ResourceKind;
  /** Empty for the resource itself. */
  readonly subresource: string;
  readonly servedBy: 'from' | 'to';
  /** Whether both versions serve it, with other verbs. */
  readonly isPartial: boolean;
  /** All verbs of the version that serves it. */
  readonly verbs: ReadonlySet<string>;
}

/** Compares what the servers of two versions serve by themselves; those of the newer version first. */
export function differencesBetween(
  from: readonly GroupDiscovery[],
  to: readonly GroupDiscovery[],
): readonly Difference[] {
  const kinds = { from: kindsByKey(from), to: kindsByKey(to) };
  const rows = surfaceMatrix([
    { name: 'from', surface: { resources: servedResources(from) } },
    { name: 'to', surface: { resources: servedResources(to) } },
  ]);
  return (['to', 'from'] as const).flatMap((servedBy) =>
    rows.flatMap((row): Difference[] => {
      const verbs = row.servedBy.get(servedBy);
      const others = row.servedBy.get(servedBy === 'to' ? 'from' : 'to');
      const name = lackingText(row.name, verbs, others);
      const kind = kinds[servedBy].get(gvrKey(row.group, row.version, row.resource));
      if (name === undefined || kind === undefined) return [];
      return [
        {
          name,
          kind,
          subresource: row.subresource,
          servedBy,
          isPartial: others !== undefined,
          verbs: new Set(verbs),
        },
      ];
    }),
  );
}

/** Keys of everything that is served: `storage.k8s.io/v1/csinodes`, `storage.k8s.io/v1/csinodes/status`. */
export function servedKeys(groups: readonly GroupDiscovery[]): string[] {
  const withSubresources = ([key, { subresources }]: readonly [string, ServedResource]): string[] => [
    key,
    ...[...subresources.keys()].map((name) => subresourceKey(key, name)),
  ];
  return [...servedResources(groups)].flatMap(withSubresources);
}

export function subresourceKey(resourceKey: string, subresource: string): string {
  return `${resourceKey}/${subresource}`;
}

function kindsByKey(groups: readonly GroupDiscovery[]): ReadonlyMap<string, ResourceKind> {
  return new Map(resourceKindsOf(groups).map((kind) => [kind.key, kind]));
}
