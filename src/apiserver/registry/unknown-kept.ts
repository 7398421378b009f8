import { isObject, type Json, type JsonObject, jsonEqual, member, setMember } from '../../kube/json.js';
import { ANY, isFreeForm, memberSchema, type Schema } from '../schema/schema.js';

/**
 * Returns an object to be stored with those fields of the stored object that this version does not know:
 * a newer server wrote them, and an older one must not remove them. List items are matched by their keys,
 * or by position without keys.
 */
export function keepUnknownFields(object: JsonObject, stored: JsonObject, schema: Schema): JsonObject {
  return merged(object, stored, schema) as JsonObject;
}

function merged(value: Json, stored: Json, schema: Schema): Json {
  if (Array.isArray(value) && Array.isArray(stored)) return mergedItems(value, stored, schema);
  if (!isObject(value) || !isObject(stored)) return value;
  let result = value;
  for (const key of Object.keys(stored)) {
    const known = isFreeForm(schema) ? ANY : memberSchema(schema, key);
    const present = member(value, key);
    if (known === undefined && present !== undefined) continue;
    if (known !== undefined && present === undefined) continue;
    const kept = known === undefined ? stored[key]! : known === ANY ? present! : merged(present!, stored[key]!, known);
    if (kept === present) continue;
    if (result === value) result = { ...value };
    setMember(result, key, kept);
  }
  return result;
}

function mergedItems(items: Json[], stored: Json[], schema: Schema): Json {
  const item = schema.items ?? ANY;
  const keys = schema.listKeys ?? (schema.patchMergeKey === undefined ? undefined : [schema.patchMergeKey]);
  let changed = false;
  const result = items.map((each, index) => {
    const partner = keys === undefined ? stored[index] : stored.find((other) => sameKeys(each, other, keys));
    const kept = partner === undefined ? each : merged(each, partner, item);
    changed ||= kept !== each;
    return kept;
  });
  return changed ? result : items;
}

function sameKeys(left: Json, right: Json, keys: readonly string[]): boolean {
  if (!isObject(left) || !isObject(right)) return false;
  return keys.every((key) => jsonEqual(member(left, key), member(right, key)));
}
