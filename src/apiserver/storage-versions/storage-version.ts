import { groupVersion } from '../../kube/gvr.js';
import { isObject, type JsonObject, jsonEqual } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { DEFINITIONS } from '../crd/definition-watch.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { SurfaceGroup } from '../surfaces/surface-file.js';

/** What one server does with the objects of one resource: all of them `group/version`. */
export interface ServerStorageVersion {
  readonly apiServerID: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
}

/** By the name of its StorageVersion object, everything that a server stores. */
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
    // Kinds of two groups that are stored as one are told of under the first, so that all servers name the same.
    const first = [...sharing].sort((left, right) => (left.group < right.group ? -1 : 1))[0]!;
    const served = sharing.filter(({ group }) => group === first.group);
    found.set(nameOf(first), {
      apiServerID,
      encodingVersion: first.storage.apiVersion,
      decodableVersions: unique([
        ...knownVersions(first, groups, objects),
        ...sharing.map(({ group, version }) => groupVersion(group, version)),
      ]),
      servedVersions: served.map(({ group, version }) => groupVersion(group, version)),
    });
  }
  return found;
}

function nameOf({ group, resource }: ResourceType): string {
  return `${group === '' ? 'core' : group}.${resource}`;
}

/** Versions that are not served can be read all the same. */
function knownVersions(type: ResourceType, groups: readonly SurfaceGroup[], objects: ObjectReader): string[] {
  const { group, resource } = type;
  if (type.origin === 'built-in') {
    const versions = groups.find(({ name }) => name === group)?.versions ?? [];
    return versions
      .filter(({ resources }) => resources.some(({ name }) => name === resource))
      .map(({ version }) => groupVersion(group, version));
  }
  const definition = objects.get(DEFINITIONS, '', `${resource}.${group}`);
  const spec = isObject(definition?.['spec']) ? definition['spec'] : {};
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isObject) : [];
  return versions.map(({ name }) => groupVersion(group, String(name)));
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** What the servers have said in an object so far. */
export function entriesOf(object: JsonObject): readonly ServerStorageVersion[] {
  const status = isObject(object['status']) ? object['status'] : {};
  const entries = Array.isArray(status['storageVersions']) ? status['storageVersions'].filter(isObject) : [];
  return entries as unknown as readonly ServerStorageVersion[];
}

/** The entries with this server's own in its place (or without, where it is undefined) and without those of the departed. */
export function settledEntries(
  entries: readonly ServerStorageVersion[],
  own: { readonly id: string; readonly entry: ServerStorageVersion | undefined },
  isGone: (apiServerID: string) => boolean,
): readonly ServerStorageVersion[] {
  const kept = entries.flatMap((each) => {
    if (each.apiServerID !== own.id) return isGone(each.apiServerID) ? [] : [each];
    return own.entry ? [own.entry] : [];
  });
  const isNew = own.entry !== undefined && !kept.includes(own.entry);
  return isNew ? [...kept, own.entry!] : kept;
}

export function sameEntries(left: readonly ServerStorageVersion[], right: readonly ServerStorageVersion[]): boolean {
  return jsonEqual(left as unknown as JsonObject[], right as unknown as JsonObject[]);
}

/** The object with these entries and what follows from them: whether all agree, and since when. */
export function withEntries(object: JsonObject, entries: readonly ServerStorageVersion[], now: string): JsonObject {
  const before = isObject(object['status']) ? object['status'] : {};
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
  const all = Array.isArray(before['conditions']) ? before['conditions'].filter(isObject) : [];
  const present = all.find(({ type }) => type === TYPE);
  const status = common === undefined ? 'False' : 'True';
  const said = common === undefined ? 'unset' : 'set';
  const previous = before['commonEncodingVersion'];
  // All agreeing on another version than before is a change too.
  const isOther = previous !== undefined && common !== undefined && previous !== common;
  const isSame = present?.['status'] === status && !isOther;
  const condition: JsonObject = {
    ...present,
    type: TYPE,
    status,
    lastTransitionTime: (isSame ? present['lastTransitionTime'] : undefined) ?? now,
    reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
    message: `Common encoding version ${said}`,
  };
  return present ? all.map((each) => (each === present ? condition : each)) : [...all, condition];
}
