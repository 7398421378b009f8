import type { GroupDiscovery } from '../../kube/discovery.js';
import { type Surface, servedResources } from '../../kube/surface.js';

export interface SurfaceDocuments {
  readonly core: readonly GroupDiscovery[];
  readonly groups: readonly GroupDiscovery[];
  readonly kubernetesVersion: string;
  readonly versionDocument?: string | undefined;
}

/** Builds the routing index of checked discovery documents. */
export function buildSurface(documents: SurfaceDocuments): Surface {
  const { core, groups, kubernetesVersion, versionDocument } = documents;
  const resources = servedResources([...core, ...groups]);
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
