import type { GroupDiscovery, ResourceDiscovery, SubresourceDiscovery } from '../../kube/discovery.js';
import { gvrKey } from '../../kube/gvr.js';
import type { ServedResource, Surface } from '../../kube/surface.js';
import { buildSurface } from './surface-documents.js';

/** Returns `surface` without what `served` has; the same object if they share no resource. */
export function subtractSurface(surface: Surface, served: Surface): Surface {
  let overlaps = false;
  for (const key of surface.resources.keys()) {
    if (!served.resources.has(key)) continue;
    overlaps = true;
    break;
  }
  if (!overlaps) return surface;
  return buildSurface({
    core: withoutServed(surface.core, served),
    groups: withoutServed(surface.groups, served),
    kubernetesVersion: surface.kubernetesVersion,
  });
}

function withoutServed(groups: readonly GroupDiscovery[], served: Surface): GroupDiscovery[] {
  return groups.flatMap((group) => {
    const versions = (group.versions ?? []).flatMap((version) => {
      const resources = (version.resources ?? []).flatMap((resource) => {
        const key = gvrKey(group.metadata.name ?? '', version.version, resource.resource);
        const left = restOf(resource, served.resources.get(key));
        return left ? [left] : [];
      });
      return resources.length > 0 ? [{ ...version, resources }] : [];
    });
    return versions.length > 0 ? [{ ...group, versions }] : [];
  });
}

function restOf(resource: ResourceDiscovery, served: ServedResource | undefined): ResourceDiscovery | undefined {
  if (!served) return resource;
  const verbs = (resource.verbs ?? []).filter((verb) => !served.verbs.has(verb));
  const subresources = (resource.subresources ?? []).flatMap((subresource): SubresourceDiscovery[] => {
    const known = served.subresources.get(subresource.subresource);
    const left = known ? (subresource.verbs ?? []).filter((verb) => !known.has(verb)) : subresource.verbs;
    return known && left?.length === 0 ? [] : [{ ...subresource, ...(left ? { verbs: left } : {}) }];
  });
  return verbs.length === 0 && subresources.length === 0 ? undefined : { ...resource, verbs, subresources };
}
