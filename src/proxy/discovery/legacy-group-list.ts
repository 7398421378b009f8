import type { GroupDiscovery } from '../../kube/discovery.js';
import { groupVersion } from '../../kube/gvr.js';
import type { MergedDiscovery } from './merge.js';

/** One group as `/apis` lists it. */
export interface LegacyGroup {
  readonly name: string;
  readonly versions: readonly LegacyGroupVersion[];
  readonly preferredVersion: LegacyGroupVersion;
}

export interface LegacyGroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

/** `/apis` in the form before aggregated discovery: names only, in the same order. */
export function legacyGroupList(merged: MergedDiscovery) {
  const groups = merged.groups.filter((group) => (group.versions ?? []).length > 0).map(legacyGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/<group>`, or undefined where no server has the group. */
export function legacyGroupDocument(merged: MergedDiscovery, name: string) {
  const group = merged.groups.find((candidate) => candidate.metadata.name === name);
  if (!group || (group.versions ?? []).length === 0) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) };
}

/** Aggregated discovery has no field for the preferred version: it is the first. */
function legacyGroup(group: GroupDiscovery): LegacyGroup {
  const name = group.metadata.name ?? '';
  const versions = group.versions!.map(({ version }) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions, preferredVersion: versions[0]! };
}
