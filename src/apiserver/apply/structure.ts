import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { ANY, memberSchema, type Schema } from '../schema/schema.js';

export type Shape = 'map' | 'list' | 'scalar';

/** How a value is walked: what its type says, or what the value is where the type leaves it open. */
export function shapeOf(schema: Schema, value: Json | undefined): Shape {
  switch (schema.type) {
    case 'object':
      return 'map';
    case 'array':
      return 'list';
    case undefined:
      if (Array.isArray(value)) return 'list';
      // Null is anything; kube-apiserver takes it for a map here.
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

export function isNamedField(schema: Schema, name: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name);
}

/** Of stored objects: a field that a newer version has written is kept, whatever it is. */
export function fieldSchema(schema: Schema, name: string): Schema {
  return memberSchema(schema, name) ?? ANY;
}

/** The schema at a path of elements. */
export function schemaAt(root: Schema, path: readonly string[]): Schema {
  let schema = root;
  for (const element of path) {
    schema = element.startsWith('f:') ? fieldSchema(schema, element.slice(2)) : (schema.items ?? ANY);
  }
  return schema;
}

/**
 * An object of a built-in kind with what kube-apiserver's own types always write: structs that are never absent (their
 * default is `{}`) and required members (null where they have no value). Without it, the first writer of an object would
 * own these members themselves, which it does not at kube-apiserver.
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

/** Of an object that has nothing else: what every new one is compared with. Shared: not to be changed. */
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

/** Worked out once: every write asks for it. */
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
 * An object of a built-in kind without what kube-apiserver's own types never write: nulls (an applied one, or a required
 * member without a value) and empty lists and maps that need not be there.
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
