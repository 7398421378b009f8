import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { ANY, type Schema } from '../schema/schema.js';
import { FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { fieldSchema, isAtomic, isBare, isNamedField, shapeOf } from './structure.js';

/** Returns the fields that a value sets, which its applier owns. */
export function fieldSetOf(value: Json, schema: Schema): FieldSet {
  const set = new FieldSet();
  visit(value, schema, [], set);
  return set;
}

function visit(value: Json, schema: Schema, path: readonly string[], set: FieldSet): void {
  const shape = shapeOf(schema, value);
  if (isAtomic(schema, shape)) set.insert(path);
  else if (shape === 'map' && isObject(value)) visitMembers(value, schema, path, set);
  else if (shape === 'list' && Array.isArray(value)) visitItems(value, schema, path, set);
}

function visitMembers(value: JsonObject, schema: Schema, path: readonly string[], set: FieldSet): void {
  for (const [name, each] of Object.entries(value)) {
    const below = [...path, fieldElement(name)];
    visit(each, fieldSchema(schema, name), below, set);
    // Keys of a map are owned themselves; fields of a struct only if they are null or an empty object.
    const isEmpty = !Array.isArray(each) && isBare(each);
    if (isEmpty || !isNamedField(schema, name)) set.insert(below);
  }
}

function visitItems(items: readonly Json[], schema: Schema, path: readonly string[], set: FieldSet): void {
  const elements = items.map((item) => itemElement(schema, item));
  const seen = new Set<string>();
  const twice = new Set(elements.filter((element) => seen.size === seen.add(element).size));
  for (const [index, item] of items.entries()) {
    const below = [...path, elements[index]!];
    // Duplicate items are owned as one.
    if (!twice.has(elements[index]!)) visit(item, schema.items ?? ANY, below, set);
    set.insert(below);
  }
}
