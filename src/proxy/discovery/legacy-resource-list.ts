import type { KindReference, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import type { MergedDiscovery } from './merge.js';

/** A resource or subresource in `/apis/<group>/<version>`; fields in Kubernetes' order. */
export interface LegacyResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  /** Present only where they differ from those of the list. */
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Not part of aggregated discovery; read from the legacy lists of the servers. */
  readonly storageVersionHash?: string;
}

export function findVersion(merged: MergedDiscovery, group: string, version: string): VersionDiscovery | undefined {
  const groups = group === '' ? merged.core : merged.groups;
  const found = groups.find((candidate) => (candidate.metadata.name ?? '') === group);
  return found?.versions?.find((candidate) => candidate.version === version);
}

/** Makes the legacy APIResourceList of `/apis/<group>/<version>` or `/api/v1`. */
export function legacyResourceList(
  at: { readonly group: string; readonly version: string },
  version: VersionDiscovery,
  storageVersionHashes: ReadonlyMap<string, string>,
) {
  const resources = (version.resources ?? []).flatMap((resource) =>
    entriesOf(resource, at, storageVersionHashes.get(resource.resource)),
  );
  return {
    kind: 'APIResourceList',
    // kube-apiserver omits apiVersion for the core group.
    ...(at.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(at.group, at.version),
    resources: resources.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  };
}

function entriesOf(
  resource: ResourceDiscovery,
  at: { readonly group: string; readonly version: string },
  hash: string | undefined,
): LegacyResource[] {
  const namespaced = resource.scope !== 'Cluster';
  const entries: LegacyResource[] = [];
  // A resource without verbs is only the parent of its subresources, and is not in legacy lists.
  if ((resource.verbs ?? []).length > 0) {
    entries.push({
      name: resource.resource,
      singularName: resource.singularResource ?? '',
      namespaced,
      ...kindFields(resource.responseKind, at),
      verbs: resource.verbs ?? [],
      ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
      ...(resource.categories ? { categories: resource.categories } : {}),
      ...(hash ? { storageVersionHash: hash } : {}),
    });
  }
  for (const sub of resource.subresources ?? []) {
    entries.push({
      name: `${resource.resource}/${sub.subresource}`,
      singularName: '',
      namespaced,
      ...kindFields(sub.responseKind, at),
      verbs: sub.verbs ?? [],
    });
  }
  return entries;
}

/**
 * Returns kind, and group and version only where they differ from those of the list. Empty ones
 * mean those of the list.
 */
function kindFields(kind: KindReference | undefined, at: { readonly group: string; readonly version: string }) {
  const group = kind?.group ?? '';
  const version = kind?.version ?? '';
  const own = (group === '' && version === '') || (group === at.group && version === at.version);
  return { ...(own ? {} : { ...(group === '' ? {} : { group }), version }), kind: kind?.kind ?? '' };
}
