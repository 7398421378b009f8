import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import { ANY, type Schema } from '../schema/schema.js';
import { FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { fieldSchema, isAtomic, isBare, shapeOf } from './structure.js';

export interface FieldChanges {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Returns the differences between two objects of one kind, path by path. */
export function compareFields(before: JsonObject, after: JsonObject, schema: Schema): FieldChanges {
  const walk = new Walk();
  compare(before, after, schema, walk);
  return walk;
}

/** The position and the results of a comparison. One path grows and shrinks, because every write walks its object. */
class Walk implements FieldChanges {
  readonly added = new FieldSet();
  readonly modified = new FieldSet();
  readonly removed = new FieldSet();
  readonly #path: string[] = [];
  readonly #trails = { added: [] as FieldSet[], modified: [] as FieldSet[], removed: [] as FieldSet[] };

  enter(element: string): void {
    this.#path.push(element);
  }

  leave(): void {
    this.#path.pop();
    const length = this.#path.length + 1;
    const { added, modified, removed } = this.#trails;
    if (added.length > length) added.length = length;
    if (modified.length > length) modified.length = length;
    if (removed.length > length) removed.length = length;
  }

  /** Notes a change of the value at the current path. */
  note(change: keyof FieldChanges): void {
    this[change].insertAlong(this.#path, this.#trails[change]);
  }
}

function compare(before: Json | undefined, after: Json | undefined, schema: Schema, walk: Walk): void {
  const shape = shapeOf(schema, after ?? before);
  const formerShape = before === undefined || after === undefined ? shape : shapeOf(schema, before);
  const isLeaf = formerShape !== shape || isAtomic(schema, shape) || (isBare(before) && isBare(after));
  if (isLeaf && before !== undefined && after !== undefined) {
    if (before !== after && !jsonEqual(before, after)) walk.note('modified');
    if (formerShape === shape) return;
  }
  if (!isLeaf || formerShape !== shape) {
    if (shape === 'map' || formerShape === 'map') compareMembers(before, after, schema, walk);
    if (shape === 'list' || formerShape === 'list') compareItems(before, after, schema, walk);
  }
  if (before === undefined) walk.note('added');
  else if (after === undefined) walk.note('removed');
}

const NO_MEMBERS: JsonObject = {};

function compareMembers(before: Json | undefined, after: Json | undefined, schema: Schema, walk: Walk): void {
  if (schema.mapType === 'atomic') return;
  const left = isObject(before) ? before : NO_MEMBERS;
  const right = isObject(after) ? after : NO_MEMBERS;
  for (const name of Object.keys(left)) {
    walk.enter(fieldElement(name));
    compare(left[name], member(right, name), fieldSchema(schema, name), walk);
    walk.leave();
  }
  for (const name of Object.keys(right)) {
    if (Object.hasOwn(left, name)) continue;
    walk.enter(fieldElement(name));
    compare(undefined, right[name], fieldSchema(schema, name), walk);
    walk.leave();
  }
}

function compareItems(before: Json | undefined, after: Json | undefined, schema: Schema, walk: Walk): void {
  if (isAtomic(schema, 'list')) return;
  const left = itemsByElement(before, schema);
  const right = itemsByElement(after, schema);
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    walk.enter(element);
    compareSameItems(left.get(element) ?? [], right.get(element) ?? [], schema.items ?? ANY, walk);
    walk.leave();
  }
}

/** Compares the items with one element: one of each list unless it has duplicates. */
function compareSameItems(former: readonly Json[], latter: readonly Json[], schema: Schema, walk: Walk): void {
  if (former.length <= 1 && latter.length <= 1) {
    compare(former[0], latter[0], schema, walk);
  } else if (former.length > 1 && latter.length > 1) {
    if (!jsonEqual(former as Json[], latter as Json[])) walk.note('modified');
  } else if (former.length > 1) {
    if (latter.length > 0) compare(undefined, latter[0], schema, walk);
    walk.note('removed');
  } else {
    if (former.length > 0) compare(former[0], undefined, schema, walk);
    walk.note('added');
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
