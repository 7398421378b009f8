import type { GroupDiscovery } from './discovery.js';
import { gvrKey } from './gvr.js';
import type { RequestInfo } from './request-info.js';

/** A resource of one server. */
export interface ServedResource {
  readonly verbs: ReadonlySet<string>;
  readonly subresources: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * The APIs of one server, indexed for routing. Immutable; a change of the server's discovery is a
 * new Surface. `resources` is keyed by `gvrKey`.
 */
export interface Surface {
  readonly resources: ReadonlyMap<string, ServedResource>;
  /** The source documents, for merging: the core group (`/api`) and the named groups (`/apis`). */
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  /** `v1.36.4`, or empty if unknown. */
  readonly kubernetesVersion: string;
  /** The JSON text of the server's `/version`; undefined if it was not read, or is too long. */
  readonly versionDocument?: string | undefined;
}

/** Indexes checked discovery documents by `gvrKey`. */
export function servedResources(groups: Iterable<GroupDiscovery>): Map<string, ServedResource> {
  const resources = new Map<string, ServedResource>();
  // Servers repeat the same few verb lists thousands of times; sharing one set per list keeps
  // surfaces small.
  const sets = new Map<string, ReadonlySet<string>>();
  const verbSet = (verbs: readonly string[] | undefined): ReadonlySet<string> => {
    const key = (verbs ?? []).join(',');
    let set = sets.get(key);
    if (!set) {
      set = new Set(verbs ?? []);
      sets.set(key, set);
    }
    return set;
  };
  for (const group of groups) {
    for (const version of group.versions ?? []) {
      for (const resource of version.resources ?? []) {
        const key = gvrKey(group.metadata.name ?? '', version.version, resource.resource);
        if (resources.has(key)) continue;
        const subresources = new Map((resource.subresources ?? []).map((s) => [s.subresource, verbSet(s.verbs)]));
        resources.set(key, { verbs: verbSet(resource.verbs), subresources });
      }
    }
  }
  return resources;
}

/**
 * Returns whether a surface has the resource, subresource and verb of a request. A verb that
 * discovery cannot list (OPTIONS, a proxied method) is ignored.
 */
export function serves(surface: Surface, info: RequestInfo): boolean {
  const served = surface.resources.get(info.resourceKey);
  if (!served) return false;
  const verbs = info.subresource === '' ? served.verbs : served.subresources.get(info.subresource);
  if (!verbs) return false;
  return !DISCOVERY_VERBS.has(info.verb) || verbs.has(info.verb);
}

/** Returns whether a surface has a resource in any version. */
export function servesInSomeVersion({ core, groups }: Surface, what: { group: string; resource: string }): boolean {
  const documents = what.group === '' ? core : groups.filter(({ metadata }) => metadata.name === what.group);
  return documents.some(({ versions }) =>
    versions?.some(({ resources }) => resources?.some(({ resource }) => resource === what.resource)),
  );
}

const DISCOVERY_VERBS: ReadonlySet<string> = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);
