import { isObject, type Json, type JsonObject, setMember } from '../../kube/json.js';
import { ANY, type Schema } from '../schema/schema.js';
import type { FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { fieldSchema, isAtomic, shapeOf } from './structure.js';

/** Removes the fields and items of the set, and members that this leaves empty. */
export function removeFields(object: JsonObject, fields: FieldSet, schema: Schema): JsonObject {
  return (remove(object, fields, schema) as JsonObject | null) ?? {};
}

/** Returns null if nothing is left: the member stays, as null, until `withoutAbsentMembers`. */
function remove(value: Json, fields: FieldSet, schema: Schema): Json {
  const shape = shapeOf(schema, value);
  if (shape === 'scalar') return value;
  if (isAtomic(schema, shape)) return null;
  if (Array.isArray(value)) return removeItems(value, fields, schema);
  return isObject(value) ? removeMembers(value, fields, schema) : null;
}

function removeItems(items: readonly Json[], fields: FieldSet, schema: Schema): Json {
  const kept: Json[] = [];
  for (const item of items) {
    const element = itemElement(schema, item);
    if (fields.hasMember(element)) continue;
    const below = fields.below(element);
    kept.push(below === undefined ? item : remove(item, below, schema.items ?? ANY));
  }
  return kept.length > 0 ? kept : null;
}

function removeMembers(object: JsonObject, fields: FieldSet, schema: Schema): Json {
  const kept: JsonObject = {};
  for (const name of Object.keys(object)) {
    const element = fieldElement(name);
    if (fields.hasMember(element)) continue;
    const below = fields.below(element);
    const value = object[name]!;
    setMember(kept, name, below === undefined ? value : remove(value, below, fieldSchema(schema, name)));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}
