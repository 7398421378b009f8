import type { GroupDiscovery } from '../../kube/discovery.js';
import { gvrKey } from '../../kube/gvr.js';
import type { ServedResource, Surface } from '../../kube/surface.js';

export interface SurfaceDocuments {
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  readonly kubernetesVersion: string;
  readonly versionDocument?: string | undefined;
}

/** Builds the routing index of checked discovery documents. */
export function buildSurface(documents: SurfaceDocuments): Surface {
  const { core, groups, kubernetesVersion, versionDocument } = documents;
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
  for (const group of [...core, ...groups]) {
    for (const version of group.versions ?? []) {
      for (const resource of version.resources ?? []) {
        const key = gvrKey(group.metadata.name ?? '', version.version, resource.resource);
        if (resources.has(key)) continue;
        const subresources = new Map((resource.subresources ?? []).map((s) => [s.subresource, verbSet(s.verbs)]));
        resources.set(key, { verbs: verbSet(resource.verbs), subresources });
      }
    }
  }
  return { resources, core, groups, kubernetesVersion, versionDocument };
}

/** Returns whether `next` lacks a resource, subresource or verb of `before`. */
export function lostSomething(before: Surface, next: Surface): boolean {
  for (const [key, had] of before.resources) {
    const has = next.resources.get(key);
    if (!has || lacks(has.verbs, had.verbs)) return true;
    for (const [name, verbs] of had.subresources) {
      const still = has.subresources.get(name);
      if (!still || lacks(still, verbs)) return true;
    }
  }
  return false;
}

function lacks(has: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  if (has === wanted) return false;
  for (const verb of wanted) if (!has.has(verb)) return true;
  return false;
}
