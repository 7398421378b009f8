import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { FieldSet } from './field-set.js';

/** A manager and the fields it owns: one entry of `metadata.managedFields`. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339; absent in entries without a time. */
  readonly time?: string;
  readonly fields: FieldSet;
}

/** Managers by `managerKey`. */
export type Managers = ReadonlyMap<string, Manager>;

/** Returns the identity of a manager, which contains the version of an updater but not of an applier. */
export function managerKey({ name, operation, apiVersion, subresource }: Omit<Manager, 'fields' | 'time'>): string {
  const key: JsonObject = { manager: name, operation };
  if (operation === 'Update') key['apiVersion'] = apiVersion;
  if (subresource !== '') key['subresource'] = subresource;
  return JSON.stringify(key);
}

/** Returns undefined if any entry is invalid: then all are ignored. */
export function readManagers(object: JsonObject | undefined): Managers | undefined {
  const entries = managedFieldsOf(object);
  if (entries === undefined) return new Map();
  try {
    return new Map(
      entries.map((entry) => {
        const manager = readManager(entry);
        return [managerKey(manager), manager];
      }),
    );
  } catch {
    return undefined;
  }
}

/** Returns whether a request clears all managers: with an empty list or one empty entry. */
export function isReset(object: JsonObject): boolean {
  const entries = managedFieldsOf(object);
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0);
}

function managedFieldsOf(object: JsonObject = {}): Json[] | undefined {
  const entries = member(metadataOf(object), 'managedFields');
  return Array.isArray(entries) ? entries : undefined;
}

/** Returns the object with these managers and no others; a copy down to `metadata`. */
export function withManagers(object: JsonObject, managers: Managers): JsonObject {
  const metadata = metadataOf(withoutManagers(object));
  const entries = [...managers.values()].sort(byAge).map(writeManager);
  return { ...object, metadata: entries.length === 0 ? { ...metadata } : { ...metadata, managedFields: entries } };
}

/** Returns the object itself if it has no managers. */
export function withoutManagers(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  if (!Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

function readManager(entry: Json): Manager {
  if (!isObject(entry)) throw new Error('not an entry');
  const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new Error('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') throw new Error('fieldsType must be FieldsV1');
  return {
    name: typeof manager === 'string' ? manager : '',
    operation,
    apiVersion,
    subresource: typeof subresource === 'string' ? subresource : '',
    ...(typeof time === 'string' ? { time } : {}),
    fields: FieldSet.fromJson(fieldsV1 ?? {}),
  };
}

function writeManager({ name, operation, apiVersion, subresource, time, fields }: Manager): JsonObject {
  const entry: JsonObject = {};
  if (name !== '') entry['manager'] = name;
  entry['operation'] = operation;
  entry['apiVersion'] = apiVersion;
  if (time !== undefined) entry['time'] = time;
  entry['fieldsType'] = 'FieldsV1';
  entry['fieldsV1'] = fields.toJson();
  if (subresource !== '') entry['subresource'] = subresource;
  return entry;
}

/** The order of kube-apiserver: appliers first, then by time. */
function byAge(left: Manager, right: Manager): number {
  return (
    compare(left.operation, right.operation) ||
    compare(seconds(left), seconds(right)) ||
    compare(left.name, right.name) ||
    compare(left.apiVersion, right.apiVersion) ||
    compare(left.subresource, right.subresource)
  );
}

export function seconds({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

export function compare<T extends string | number>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
