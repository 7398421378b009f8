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
  // The metadata of a custom resource is built in.
  const isCustom = kind === 'custom' && schema.typeName === undefined;
  if (Array.isArray(value)) return fillItems(value, schema, isCustom);
  if (!isObject(value)) return value;
  const below = isCustom ? 'custom' : 'built-in';
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const each = memberSchema(schema, key) ?? ANY;
    const isUnset =
      value[key] === null && each.nullable !== true && (isCustom ? isDeclared(schema, key) : each.type !== undefined);
    if (!isUnset) setMember(result, key, fill(value[key]!, each, below));
    else if (isCustom && each.default !== undefined) setMember(result, key, fill(cloneJson(each.default), each, below));
  }
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const applies = each.default !== undefined && (isCustom || !isZero(each.default));
    if (applies && !Object.hasOwn(result, name)) setMember(result, name, fill(cloneJson(each.default!), each, below));
  }
  return result;
}

function fillItems(items: readonly Json[], schema: Schema, isCustom: boolean): Json[] {
  const each = schema.items ?? ANY;
  const isReplaced = isCustom && each.nullable !== true && each.default !== undefined;
  return items.map((item) =>
    fill(item === null && isReplaced ? cloneJson(each.default!) : item, each, isCustom ? 'custom' : 'built-in'),
  );
}

/** What stands there only because everything may is left as it is. */
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
