import { loadSurface } from '../apiserver/surfaces/load-surface.js';
import type { SurfaceResource } from '../apiserver/surfaces/surface-file.js';

export interface VersionPair {
  readonly older: string;
  readonly newer: string;
  /** Entries of --runtime-config: `scheduling.k8s.io/v1alpha2=true`. */
  readonly runtimeConfig: readonly string[];
}

/**
 * A resource that servers of the newer version list and those of the older one lack, as kubectl takes it
 * (`podgroups.v1alpha2.scheduling.k8s.io`). One that --runtime-config turns on is preferred, then a namespaced one; undefined
 * where the versions do not differ.
 */
export async function newResource({ older, newer, runtimeConfig }: VersionPair): Promise<string | undefined> {
  const [before, after] = await Promise.all([loadSurface(older), loadSurface(newer)]);
  const found: { readonly name: string; readonly rank: number }[] = [];
  for (const group of after.groups.filter(({ name }) => name !== '')) {
    for (const { version, offByDefault, resources } of group.versions) {
      const isTurnedOn = runtimeConfig.includes(`${group.name}/${version}=true`);
      for (const resource of resources) {
        if ((offByDefault === true || resource.offByDefault === true) && !isTurnedOn) continue;
        if (!resource.verbs.includes('list') || before.resource(group.name, version, resource.name)) continue;
        found.push({ name: `${resource.name}.${version}.${group.name}`, rank: rankOf(resource, isTurnedOn) });
      }
    }
  }
  return found.sort((left, right) => left.rank - right.rank)[0]?.name;
}

function rankOf({ namespaced }: SurfaceResource, isTurnedOn: boolean): number {
  return (isTurnedOn ? 0 : 2) + (namespaced ? 0 : 1);
}
