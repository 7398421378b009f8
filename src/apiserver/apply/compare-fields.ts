import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../api/json.js';
import { ANY, type Schema } from '../schema/schema.js';
import { FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { fieldSchema, isAtomic, type Shape, shapeOf } from './structure.js';

export interface FieldChanges {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** What differs between two objects of one kind, path by path. */
export function compareFields(before: JsonObject, after: JsonObject, schema: Schema): FieldChanges {
  const changes = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  compare({ before, after, schema, path: [] }, changes);
  return changes;
}

interface Pair {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly schema: Schema;
  readonly path: readonly string[];
}

function compare(pair: Pair, changes: FieldChanges): void {
  const { before, after, schema, path } = pair;
  const shape = shapeOf(schema, after ?? before);
  const formerShape = before === undefined || after === undefined ? shape : shapeOf(schema, before);
  const isLeaf = formerShape !== shape || isLeafPair(pair, shape);
  if (isLeaf && before !== undefined && after !== undefined) {
    if (!jsonEqual(before, after)) changes.modified.insert(path);
    if (formerShape === shape) return;
  }
  if (!isLeaf || formerShape !== shape) {
    if (shape === 'map' || formerShape === 'map') compareMembers(pair, changes);
    if (shape === 'list' || formerShape === 'list') compareItems(pair, changes);
  }
  if (before === undefined) changes.added.insert(path);
  else if (after === undefined) changes.removed.insert(path);
}

function isLeafPair({ before, after, schema }: Pair, shape: Shape): boolean {
  return isAtomic(schema, shape) || (isBare(before) && isBare(after));
}

/** Null, absent and empty: compared as a whole, so that they stay told apart. */
function isBare(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function compareMembers({ before, after, schema, path }: Pair, changes: FieldChanges): void {
  if (schema.mapType === 'atomic') return;
  const left = isObject(before) ? before : {};
  const right = isObject(after) ? after : {};
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = { before: member(left, name), after: member(right, name) };
    compare({ ...inner, schema: fieldSchema(schema, name), path: [...path, fieldElement(name)] }, changes);
  }
}

function compareItems({ before, after, schema, path }: Pair, changes: FieldChanges): void {
  if (isAtomic(schema, 'list')) return;
  const left = itemsByElement(before, schema);
  const right = itemsByElement(after, schema);
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const former = left.get(element) ?? [];
    const latter = right.get(element) ?? [];
    const below = [...path, element];
    const items = { schema: schema.items ?? ANY, path: below };
    if (former.length <= 1 && latter.length <= 1) {
      compare({ ...items, before: former[0], after: latter[0] }, changes);
    } else if (former.length > 1 && latter.length > 1) {
      if (!jsonEqual(former, latter)) changes.modified.insert(below);
    } else if (former.length > 1) {
      if (latter.length > 0) compare({ ...items, before: undefined, after: latter[0] }, changes);
      changes.removed.insert(below);
    } else {
      if (former.length > 0) compare({ ...items, before: former[0], after: undefined }, changes);
      changes.added.insert(below);
    }
  }
}

function itemsByElement(list: Json | undefined, schema: Schema): Map<string, Json[]> {
  const items = new Map<string, Json[]>();
  for (const item of Array.isArray(list) ? list : []) {
    const element = itemElement(schema, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}
