import { groupVersion } from '../../kube/gvr.js';
import { isObject, type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { listIn, readDefinition } from '../crd/definition.js';
import { DEFINITIONS } from '../crd/definition-watch.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { SurfaceGroup } from '../surfaces/surface-file.js';

/** The versions in which one server writes, reads and serves a resource, each as `group/version`. */
export interface ServerStorageVersion {
  readonly apiServerID: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
}

/** Returns the stored resources of a server by the names of their StorageVersion objects. */
export function storedResources(
  apiServerID: string,
  types: readonly ResourceType[],
  { groups, objects }: { readonly groups: readonly SurfaceGroup[]; readonly objects: ObjectReader },
): ReadonlyMap<string, ServerStorageVersion> {
  const byPlace = new Map<string, ResourceType[]>();
  for (const type of types) {
    const sharing = byPlace.get(type.storage.prefix);
    if (sharing) sharing.push(type);
    else byPlace.set(type.storage.prefix, [type]);
  }
  const found = new Map<string, ServerStorageVersion>();
  for (const sharing of byPlace.values()) {
    // A kind of two groups is reported under the first, so that all servers use the same name.
    const first = [...sharing].sort((left, right) => (left.group < right.group ? -1 : 1))[0]!;
    const served = sharing.filter(({ group }) => group === first.group);
    found.set(nameOf(first), {
      apiServerID,
      encodingVersion: first.storage.apiVersion,
      decodableVersions: [
        ...new Set([
          ...knownVersions(first, groups, objects),
          ...sharing.map(({ group, version }) => groupVersion(group, version)),
        ]),
      ],
      servedVersions: served.map(({ group, version }) => groupVersion(group, version)),
    });
  }
  return found;
}

function nameOf({ group, resource }: ResourceType): string {
  return `${group === '' ? 'core' : group}.${resource}`;
}

/** Returns all versions of a resource, because those that are not served can be read too. */
function knownVersions(type: ResourceType, groups: readonly SurfaceGroup[], objects: ObjectReader): string[] {
  const { group, resource } = type;
  if (type.origin === 'built-in') {
    const versions = groups.find(({ name }) => name === group)?.versions ?? [];
    return versions
      .filter(({ resources }) => resources.some(({ name }) => name === resource))
      .map(({ version }) => groupVersion(group, version));
  }
  const definition = objects.get(DEFINITIONS, '', `${resource}.${group}`) ?? {};
  return readDefinition(definition).versions.map(({ name }) => groupVersion(group, name));
}

/** Returns the entries of all servers in a StorageVersion object. */
export function entriesOf(object: JsonObject): readonly ServerStorageVersion[] {
  const entries = listIn(objectMember(object, 'status'), 'storageVersions').filter(isObject);
  return entries as unknown as readonly ServerStorageVersion[];
}

/** Replaces or removes the entry of this server (`self`), and removes those of departed servers. */
export function settledEntries(
  entries: readonly ServerStorageVersion[],
  self: { readonly id: string; readonly entry: ServerStorageVersion | undefined },
  isGone: (apiServerID: string) => boolean,
): readonly ServerStorageVersion[] {
  const kept = entries.flatMap((each) => {
    if (each.apiServerID !== self.id) return isGone(each.apiServerID) ? [] : [each];
    return self.entry ? [self.entry] : [];
  });
  const isNew = self.entry !== undefined && !kept.includes(self.entry);
  return isNew ? [...kept, self.entry!] : kept;
}

export function sameEntries(left: readonly ServerStorageVersion[], right: readonly ServerStorageVersion[]): boolean {
  return jsonEqual(left as unknown as JsonObject[], right as unknown as JsonObject[]);
}

/** Returns the object with these entries, and with the common version and the condition that follow from them. */
export function withEntries(object: JsonObject, entries: readonly ServerStorageVersion[], now: string): JsonObject {
  const before = objectMember(object, 'status');
  const [first] = entries;
  const isEqual = first !== undefined && entries.every((each) => each.encodingVersion === first.encodingVersion);
  const common = isEqual ? first.encodingVersion : undefined;
  return {
    ...object,
    status: {
      storageVersions: entries as unknown as JsonObject[],
      ...(common === undefined ? {} : { commonEncodingVersion: common }),
      conditions: conditionsOf(before, common, now),
    },
  };
}

const TYPE = 'AllEncodingVersionsEqual';

function conditionsOf(before: JsonObject, common: string | undefined, now: string): JsonObject[] {
  const all = listIn(before, 'conditions').filter(isObject);
  const present = all.find(({ type }) => type === TYPE);
  const status = common === undefined ? 'False' : 'True';
  const previous = before['commonEncodingVersion'];
  // Another common version is a transition too.
  const isOther = previous !== undefined && common !== undefined && previous !== common;
  const isSame = present?.['status'] === status && !isOther;
  const condition: JsonObject = {
    ...present,
    type: TYPE,
    status,
    lastTransitionTime: (isSame ? present['lastTransitionTime'] : undefined) ?? now,
    reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
    message: `Common encoding version ${common === undefined ? 'unset' : 'set'}`,
  };
  return present ? all.map((each) => (each === present ? condition : each)) : [...all, condition];
}
