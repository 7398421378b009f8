import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { ANY, isFreeForm, memberSchema, type Schema } from './schema.js';

export interface Pruned {
  /** The same object where nothing was pruned. */
  readonly object: JsonObject;
  /** `spec.containers[0].foo`, in the order of the document: for field validation. */
  readonly unknownFields: readonly string[];
}

/** Bound on the unknown fields that are listed; all are pruned. */
export const UNKNOWN_FIELDS_MAX = 100;

/** The object without the fields its schema does not know. */
export function pruneUnknownFields(object: JsonObject, schema: Schema): Pruned {
  if (isAllKnown(object, schema)) return { object, unknownFields: [] };
  const unknownFields: string[] = [];
  return { object: prune(object, schema, '', unknownFields) as JsonObject, unknownFields };
}

/** `unknown field "spec.foo"`, as kube-apiserver warns and refuses. */
export function unknownFieldMessage(field: string): string {
  return `unknown field ${JSON.stringify(field)}`;
}

/** Whether a value has no unknown fields. A cheap check before pruning, which has to track paths. */
export function isAllKnown(value: Json, schema: Schema): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined || items === ANY || value.every((item) => isAllKnown(item, items));
  }
  for (const key of Object.keys(value)) {
    const each = schemaOfMember(schema, key);
    if (each === undefined || (each !== ANY && !isAllKnown(value[key]!, each))) return false;
  }
  return true;
}

function prune(value: Json, schema: Schema, path: string, unknown: string[]): Json {
  if (Array.isArray(value)) return pruneItems(value, schema.items ?? ANY, path, unknown);
  if (!isObject(value)) return value;
  // Made when the first member differs. Deleting members from a copy would take many times as long.
  let result: JsonObject | undefined;
  const names = Object.keys(value);
  for (const [index, key] of names.entries()) {
    const below = path === '' ? key : `${path}.${key}`;
    const each = schemaOfMember(schema, key);
    const kept = each === undefined ? undefined : prune(value[key]!, each, below, unknown);
    if (each === undefined && unknown.length < UNKNOWN_FIELDS_MAX) unknown.push(below);
    if (kept === value[key] && result === undefined) continue;
    result ??= membersOf(value, names.slice(0, index));
    if (kept !== undefined) setMember(result, key, kept);
  }
  return result ?? value;
}

function membersOf(object: JsonObject, names: readonly string[]): JsonObject {
  const result: JsonObject = {};
  for (const name of names) setMember(result, name, object[name]!);
  return result;
}

function pruneItems(items: Json[], schema: Schema, path: string, unknown: string[]): Json {
  let changed = false;
  const kept = items.map((item, index) => {
    const pruned = prune(item, schema, `${path}[${index}]`, unknown);
    changed ||= pruned !== item;
    return pruned;
  });
  return changed ? kept : items;
}

/** The schema of a member; an embedded object always has `apiVersion`, `kind` and `metadata`. */
function schemaOfMember(schema: Schema, key: string): Schema | undefined {
  const declared = memberSchema(schema, key);
  if (declared !== undefined) return declared;
  const isIdentity = key === 'apiVersion' || key === 'kind' || key === 'metadata';
  return (schema.embeddedResource === true && isIdentity) || isFreeForm(schema) ? ANY : undefined;
}
