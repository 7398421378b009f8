import { createHash } from 'node:crypto';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import type { Subresource } from '../registry/resource-type.js';
import { type Discoverable, subresourcesOf, type VersionResources, verbsOf } from './group-discovery.js';

const HASH_BYTES = 8;

/** `/api`. */
export function apiVersions(core: GroupDiscovery | undefined, serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: (core?.versions ?? []).map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`. */
export function apiGroupList(groups: readonly GroupDiscovery[]) {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(legacyGroup) };
}

/** `/apis/<group>`. */
export function apiGroup(group: GroupDiscovery) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) };
}

function legacyGroup(group: GroupDiscovery) {
  const name = group.metadata.name ?? '';
  const versions = (group.versions ?? []).map(({ version }) => ({
    groupVersion: groupVersion(name, version),
    version,
  }));
  return { name, versions, preferredVersion: versions[0]! };
}

/** `/api/v1` and `/apis/<group>/<version>`. */
export function apiResourceList({ group, version, resources }: VersionResources) {
  return {
    kind: 'APIResourceList',
    // kube-apiserver leaves it out for the core group.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersion(group, version),
    resources: resources.flatMap(rows),
  };
}

function rows(each: Discoverable) {
  return [
    {
      name: each.resource,
      singularName: each.singular,
      namespaced: each.namespaced,
      kind: each.kind,
      verbs: verbsOf(each),
      ...(each.shortNames.length > 0 ? { shortNames: each.shortNames } : {}),
      ...(each.categories.length > 0 ? { categories: each.categories } : {}),
      ...('storage' in each ? { storageVersionHash: storageVersionHash(each.storage.apiVersion, each.kind) } : {}),
    },
    ...subresourcesOf(each).map((sub) => subresourceRow(each, sub)),
  ];
}

function subresourceRow(parent: Discoverable, { name, kind, kindGroup, kindVersion, verbs }: Subresource) {
  const isOwn = kindGroup === parent.group && kindVersion === parent.version;
  return {
    name: `${parent.resource}/${name}`,
    singularName: '',
    namespaced: parent.namespaced,
    ...(isOwn ? {} : { ...(kindGroup === '' ? {} : { group: kindGroup }), version: kindVersion }),
    kind,
    verbs: [...verbs].sort(),
  };
}

/** Tells clients whether two servers store a resource alike, without telling how. */
export function storageVersionHash(apiVersion: string, kind: string): string {
  const place = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return createHash('sha256').update(`${place}/${kind}`).digest().subarray(0, HASH_BYTES).toString('base64');
}
