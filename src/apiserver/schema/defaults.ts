import { cloneJson, isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { OBJECT_VALUES_MAX } from '../contracts/size-bounds.js';
import { ANY, memberSchema, type Schema } from './schema.js';

/**
 * The object with the defaults of its schema, and without nulls where null is not allowed: a null there means "not set".
 * Parents are defaulted before their children, so a default of `{}` brings in the defaults below it.
 *
 * Built-in kinds: their zero defaults (`{}`, `""`, 0, false) only say what Go's types write and are left out. What
 * kube-apiserver defaults by code is not in a schema and not done here.
 */
export function withDefaults(object: JsonObject, schema: Schema, kind: 'built-in' | 'custom'): JsonObject {
  return fill(object, schema, kind, { values: OBJECT_VALUES_MAX }) as JsonObject;
}

/** The number of values that defaults may still add: each null of a list may become a copy of a large default. */
interface Room {
  values: number;
}

/** A copy of a default. Throws where there is no room for it. */
function taken(value: Json, room: Room): Json {
  room.values -= typeof value === 'object' && value !== null ? sizeOf(value) : 1;
  if (room.values >= 0) return cloneJson(value);
  throw new StatusError(
    'RequestEntityTooLarge',
    `Request entity too large: with its defaults the object has more than ${OBJECT_VALUES_MAX} values`,
  );
}

const sizes = new WeakMap<object, number>();

function sizeOf(value: object): number {
  let size = sizes.get(value);
  if (size === undefined) {
    size = 1;
    for (const each of Object.values(value) as Json[]) {
      size += typeof each === 'object' && each !== null ? sizeOf(each) : 1;
    }
    sizes.set(value, size);
  }
  return size;
}

function fill(value: Json, schema: Schema, kind: 'built-in' | 'custom', room: Room): Json {
  // The metadata of a custom resource is built in.
  const isCustom = kind === 'custom' && schema.typeName === undefined;
  if (Array.isArray(value)) return fillItems(value, schema, isCustom, room);
  if (!isObject(value)) return value;
  const below = isCustom ? 'custom' : 'built-in';
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const each = memberSchema(schema, key) ?? ANY;
    const isUnset =
      value[key] === null && each.nullable !== true && (isCustom ? isDeclared(schema, key) : each.type !== undefined);
    if (!isUnset) setMember(result, key, fill(value[key]!, each, below, room));
    else if (isCustom && each.default !== undefined)
      setMember(result, key, fill(taken(each.default, room), each, below, room));
  }
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const applies = each.default !== undefined && (isCustom || !isZero(each.default));
    if (applies && !Object.hasOwn(result, name))
      setMember(result, name, fill(taken(each.default!, room), each, below, room));
  }
  return result;
}

function fillItems(items: readonly Json[], schema: Schema, isCustom: boolean, room: Room): Json[] {
  const each = schema.items ?? ANY;
  const isReplaced = isCustom && each.nullable !== true && each.default !== undefined;
  return items.map((item) =>
    fill(item === null && isReplaced ? taken(each.default!, room) : item, each, isCustom ? 'custom' : 'built-in', room),
  );
}

/** Whether the schema describes a member; a null of another member is kept. */
function isDeclared(schema: Schema, name: string): boolean {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) return true;
  const { values } = schema;
  // Values without any demand (`additionalProperties: true`) may be null.
  return values !== undefined && (values.type !== undefined || values.format !== undefined || isDemanding(values));
}

function isDemanding(values: Schema): boolean {
  return values.preserveUnknownFields === true || values.default !== undefined;
}

function isZero(value: Json): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false || value === null;
}
