import type { GroupDiscovery, KindReference, ResourceDiscovery } from './discovery.js';
import { groupVersion } from './gvr.js';

interface LegacyGroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

/** One group in `/apis`. */
interface LegacyApiGroup {
  readonly name: string;
  readonly versions: readonly LegacyGroupVersion[];
  readonly preferredVersion: LegacyGroupVersion;
}

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
  /** Not part of aggregated discovery. */
  readonly storageVersionHash?: string;
}

/** Makes `/api`. The addresses belong to the server that replies. */
export function apiVersions(versions: readonly string[], serverAddressByClientCIDRs: readonly unknown[]) {
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs };
}

/** Makes `/apis`: the groups that have versions, names only, in the order of `groups`. */
export function apiGroupList(groups: readonly GroupDiscovery[]) {
  const named = groups.filter((group) => (group.versions ?? []).length > 0).map(legacyGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named };
}

/** Makes `/apis/<group>`; undefined if no group with versions has the name. */
export function apiGroup(groups: readonly GroupDiscovery[], name: string) {
  const group = groups.find((candidate) => candidate.metadata.name === name);
  if (!group || (group.versions ?? []).length === 0) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) };
}

/** Converts a group. The preferred version is the first: there is no field for it. */
function legacyGroup(group: GroupDiscovery): LegacyApiGroup {
  const name = group.metadata.name ?? '';
  const versions = group.versions!.map(({ version }) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions, preferredVersion: versions[0]! };
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Makes `/apis/<group>/<version>` or `/api/v1`: each resource, followed by its subresources. */
export function apiResourceList(
  at: GroupVersion,
  resources: readonly ResourceDiscovery[],
  hashOf: (resource: string) => string | undefined,
) {
  return {
    kind: 'APIResourceList',
    // kube-apiserver omits apiVersion for the core group.
    ...(at.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(at.group, at.version),
    resources: resources.flatMap((resource) => entriesOf(resource, at, hashOf(resource.resource))),
  };
}

function entriesOf(resource: ResourceDiscovery, at: GroupVersion, hash: string | undefined): LegacyResource[] {
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
function kindFields(kind: KindReference | undefined, at: GroupVersion) {
  const group = kind?.group ?? '';
  const version = kind?.version ?? '';
  const isSame = (group === '' && version === '') || (group === at.group && version === at.version);
  return { ...(isSame ? {} : { ...(group === '' ? {} : { group }), version }), kind: kind?.kind ?? '' };
}
