import type { GroupDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import type { MergedDiscovery } from './merge.js';

/** One group in `/apis`. */
export interface LegacyApiGroup {
  readonly name: string;
  readonly versions: readonly LegacyGroupVersion[];
  readonly preferredVersion: LegacyGroupVersion;
}

export interface LegacyGroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

/** Makes the legacy APIGroupList of `/apis`: names only, in the same order as aggregated discovery. */
export function legacyGroupList(merged: MergedDiscovery) {
  const groups = merged.groups.filter((group) => (group.versions ?? []).length > 0).map(legacyGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** Makes `/apis/<group>`; undefined if no server has the group. */
export function legacyGroupDocument(merged: MergedDiscovery, name: string) {
  const group = merged.groups.find((candidate) => candidate.metadata.name === name);
  if (!group || (group.versions ?? []).length === 0) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) };
}

/** Converts a group. The preferred version is the first: aggregated discovery has no field for it. */
function legacyGroup(group: GroupDiscovery): LegacyApiGroup {
  const name = group.metadata.name ?? '';
  const versions = group.versions!.map(({ version }) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions, preferredVersion: versions[0]! };
}
