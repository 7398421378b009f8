import type { GroupDiscovery, KindReference, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import type { SurfaceGroup, SurfaceResource, SurfaceVersion } from './surface-file.js';

export interface AggregatedDocuments {
  /** Aggregated discovery of `/api`. */
  readonly core: readonly GroupDiscovery[];
  /** Aggregated discovery of `/apis`. */
  readonly groups: readonly GroupDiscovery[];
}

/**
 * The groups of a server with all APIs enabled. APIs that `byDefault`, the same server with default
 * flags, does not serve are marked as off by default.
 */
export function convertDiscovery(everything: AggregatedDocuments, byDefault?: AggregatedDocuments): SurfaceGroup[] {
  const defaults = byDefault === undefined ? undefined : served(byDefault);
  return [...everything.core, ...everything.groups].map((group) => {
    const name = group.metadata.name ?? '';
    return {
      name,
      versions: (group.versions ?? []).map((version) => convertVersion(name, version, defaults)),
    };
  });
}

function convertVersion(
  group: string,
  each: VersionDiscovery,
  defaults: ReadonlySet<string> | undefined,
): SurfaceVersion {
  const { version } = each;
  const isOff = (name: string): boolean => defaults !== undefined && !defaults.has(name);
  const off = isOff(`${group}/${version}`);
  return {
    version,
    ...(off ? { offByDefault: true } : {}),
    resources: (each.resources ?? []).map((resource) => ({
      ...convertResource({ group, version }, resource),
      ...(!off && isOff(`${group}/${version}/${resource.resource}`) ? { offByDefault: true as const } : {}),
    })),
  };
}

interface Place {
  readonly group: string;
  readonly version: string;
}

function convertResource(place: Place, each: ResourceDiscovery): SurfaceResource {
  const subresources = (each.subresources ?? []).map((sub) => ({
    name: sub.subresource,
    ...kindAt(place, sub.responseKind),
    verbs: sub.verbs ?? [],
  }));
  return {
    name: each.resource,
    singular: each.singularResource ?? '',
    ...kindAt(place, each.responseKind),
    namespaced: each.scope === 'Namespaced',
    verbs: each.verbs ?? [],
    ...(each.shortNames && each.shortNames.length > 0 ? { shortNames: each.shortNames } : {}),
    ...(each.categories && each.categories.length > 0 ? { categories: each.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/** Discovery leaves group and version empty where they are those of the resource. */
function kindAt(
  place: Place,
  kind: KindReference | undefined,
): { kind: string; kindGroup?: string; kindVersion?: string } {
  const version = kind?.version ?? '';
  const isElsewhere = version !== '' && (version !== place.version || (kind?.group ?? '') !== place.group);
  return {
    kind: kind?.kind ?? '',
    ...(isElsewhere ? { kindGroup: kind?.group ?? '', kindVersion: version } : {}),
  };
}

function served({ core, groups }: AggregatedDocuments): ReadonlySet<string> {
  const names = new Set<string>();
  for (const group of [...core, ...groups]) {
    for (const { version, resources } of group.versions ?? []) {
      const place = `${group.metadata.name ?? ''}/${version}`;
      names.add(place);
      for (const { resource } of resources ?? []) names.add(`${place}/${resource}`);
    }
  }
  return names;
}
