import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { ANY, memberSchema, type Schema } from '../schema/schema.js';

export type Shape = 'map' | 'list' | 'scalar';

/** Returns the shape of a value: by its type, or by the value itself if the schema has no type. */
export function shapeOf(schema: Schema, value: Json | undefined): Shape {
  switch (schema.type) {
    case 'object':
      return 'map';
    case 'array':
      return 'list';
    case undefined:
      if (Array.isArray(value)) return 'list';
      // kube-apiserver treats null as a map here.
      return value === null || value === undefined || isObject(value) ? 'map' : 'scalar';
    default:
      return 'scalar';
  }
}

/** Atomic values are owned and replaced as a whole. */
export function isAtomic(schema: Schema, shape: Shape): boolean {
  if (shape === 'map') return schema.mapType === 'atomic';
  return shape === 'scalar' || (schema.listType !== 'map' && schema.listType !== 'set');
}

/** Returns whether a value is absent, null or empty: it is owned and compared as a whole. */
export function isBare(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && hasNoMembers(value);
}

/** Object.keys would allocate; every write compares all of its object. */
function hasNoMembers(object: JsonObject): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return false;
  return true;
}

export function isNamedField(schema: Schema, name: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name);
}

/** Returns ANY for a field that only a newer version knows. */
export function fieldSchema(schema: Schema, name: string): Schema {
  return memberSchema(schema, name) ?? ANY;
}

/** Returns the schema at a path of elements. */
export function schemaAt(root: Schema, path: readonly string[]): Schema {
  let schema = root;
  for (const element of path) {
    schema = element.startsWith('f:') ? fieldSchema(schema, element.slice(2)) : (schema.items ?? ANY);
  }
  return schema;
}

/**
 * Adds the members that the Go types of kube-apiserver always write: structs with the default `{}`, and
 * required members (null without a value). Without them, the first writer of an object would own these
 * members, which it does not in kube-apiserver.
 */
export function withConstantMembers(value: JsonObject, schema: Schema): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(value))
    setMember(result, key, constantMembersOf(value[key]!, fieldSchema(schema, key)));
  for (const { name, struct, zero } of constantsOf(schema)) {
    if (!Object.hasOwn(result, name)) result[name] = struct ? withConstantMembers({}, struct) : zero;
  }
  return result;
}

/** The constant members of an empty object, with which new objects are compared. Shared: not to be changed. */
export function constantMembers(schema: Schema): JsonObject {
  let known = bareObjects.get(schema);
  if (known === undefined) {
    known = withConstantMembers({}, schema);
    bareObjects.set(schema, known);
  }
  return known;
}

const bareObjects = new WeakMap<Schema, JsonObject>();

interface ConstantMember {
  readonly name: string;
  /** Of a struct that is never absent. */
  readonly struct: Schema | undefined;
  readonly zero: Json;
}

/** Kept for each schema, because every write needs them. */
const constants = new WeakMap<Schema, readonly ConstantMember[]>();

function constantsOf(schema: Schema): readonly ConstantMember[] {
  let known = constants.get(schema);
  if (known === undefined) {
    known = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
      const isStruct = isObject(each.default) && Object.keys(each.default).length === 0;
      if (isStruct) return { name, struct: each, zero: null };
      return schema.required?.includes(name) ? { name, struct: undefined, zero: each.default ?? null } : [];
    });
    constants.set(schema, known);
  }
  return known;
}

function constantMembersOf(value: Json, schema: Schema): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => constantMembersOf(item, items));
  }
  return isObject(value) && schema !== ANY ? withConstantMembers(value, schema) : value;
}

/**
 * Removes the members that the Go types of kube-apiserver never write: nulls (applied, or of a required
 * member without a value) and empty lists and maps that are not required.
 */
export function withoutAbsentMembers(object: JsonObject, schema: Schema): JsonObject {
  const kept: JsonObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key]!;
    const each = fieldSchema(schema, key);
    if (value === null || (isOmitted(value, each) && schema.required?.includes(key) !== true)) continue;
    setMember(kept, key, withoutAbsent(value, each));
  }
  return kept;
}

function withoutAbsent(value: Json, schema: Schema): Json {
  if (Array.isArray(value)) return value.map((item) => withoutAbsent(item, schema.items ?? ANY));
  return isObject(value) ? withoutAbsentMembers(value, schema) : value;
}

function isOmitted(value: Json, schema: Schema): boolean {
  if (Array.isArray(value)) return schema.type === 'array' && value.length === 0;
  return isObject(value) && schema.values !== undefined && Object.keys(value).length === 0;
}
