import { cloneJson, isObject, type Json, type JsonObject, setMember } from '../../api/json.js';
import { ANY, memberSchema, type Schema } from './schema.js';

/**
 * The object with the defaults of its schema, and without nulls where null is not allowed: a null there means "not set".
 * Parents are defaulted before their children, so a default of `{}` brings in the defaults below it.
 *
 * Built-in kinds: their zero defaults (`{}`, `""`, 0, false) only say what Go's types write and are left out. What
 * kube-apiserver defaults by code is not in a schema and not done here.
 */
export function withDefaults(object: JsonObject, schema: Schema, kind: 'built-in' | 'custom'): JsonObject {
  return fill(object, schema, kind) as JsonObject;
}

function fill(value: Json, schema: Schema, kind: 'built-in' | 'custom'): Json {
  if (Array.isArray(value)) return value.map((item) => fill(item, schema.items ?? ANY, kind));
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const each = memberSchema(schema, key) ?? ANY;
    const isUnset = value[key] === null && each.nullable !== true && each !== ANY && each.type !== undefined;
    if (!isUnset) setMember(result, key, fill(value[key]!, each, kind));
  }
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const applies = each.default !== undefined && (kind === 'custom' || !isZero(each.default));
    if (applies && !Object.hasOwn(result, name)) setMember(result, name, fill(cloneJson(each.default!), each, kind));
  }
  return result;
}

function isZero(value: Json): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false || value === null;
}
