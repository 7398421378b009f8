import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { goText } from '../values/go-text.js';
import { PatchError } from './json-patch-error.js';
import {
  PATCH_DIRECTIVE,
  type PatchField,
  type PatchSchema,
  unknownDirective,
} from './strategic-merge-patch-schema.js';

/** Merges the patch of one item into the item. */
type MergeItems = (item: JsonObject, patch: JsonObject, schema: PatchSchema | undefined) => JsonObject;

/** A list whose strategy is merge: scalars as a set, objects by their merge key. */
export function mergeLists(current: Json[], patch: Json[], field: PatchField, mergeItems: MergeItems): Json[] {
  if (current.length === 0 && patch.length === 0) return current;
  if (!holdObjects(current, patch)) {
    const merged = [...new Set([...current, ...patch])];
    return inOrder({ merged, first: patch, live: current });
  }
  const { mergeKey } = field;
  if (mergeKey === undefined) throw internal('cannot merge lists without merge key for list');
  const directed = applyDirectives(current as JsonObject[], patch as JsonObject[], mergeKey);
  const merged = [...directed.current];
  const places = new ItemPlaces(merged, mergeKey);
  for (const item of directed.patch) {
    const value = keyOf(item, mergeKey);
    const at = places.first(value);
    if (at === undefined) {
      places.add(value, merged.length);
      merged.push(item);
      continue;
    }
    const result = mergeItems(merged[at]!, item, field.schema);
    merged[at] = result;
    // Null removes the key itself: the item cannot be found by it any longer.
    if (member(result, mergeKey) !== value) places.dropFirst(value);
  }
  return inOrder({ merged, first: directed.patch, live: directed.current, mergeKey });
}

/** Where items stand in a list, by the value of their merge key: lists of many thousand items are searched for each of as many. */
class ItemPlaces {
  readonly #places = new Map<Json, { readonly indices: number[]; next: number }>();

  constructor(items: readonly JsonObject[], mergeKey: string) {
    for (const [index, item] of items.entries()) {
      const value = member(item, mergeKey);
      if (value !== undefined) this.add(value, index);
    }
  }

  /** The index must be higher than those before. */
  add(value: Json, index: number): void {
    const known = this.#places.get(value);
    if (known) known.indices.push(index);
    else this.#places.set(value, { indices: [index], next: 0 });
  }

  first(value: Json): number | undefined {
    const known = this.#places.get(value);
    return known?.indices[known.next];
  }

  dropFirst(value: Json): void {
    const known = this.#places.get(value);
    if (known) known.next++;
  }
}

export function deleteFromPrimitives(current: Json[], toDelete: readonly Json[]): Json[] {
  const deleted = new Set(toDelete);
  return current.filter((item) => !deleted.has(item));
}

export interface OrderedListMerge {
  readonly current: Json[] | undefined;
  readonly patched: Json[] | undefined;
  readonly order: Json[];
  readonly field: PatchField;
  readonly mergeOrReplace: (current: Json[], patch: Json[], field: PatchField) => Json[];
  readonly withoutDirectives: (value: Json) => Json | undefined;
}

export function orderBySetElementOrder(merge: OrderedListMerge): Json[] {
  const { current, patched, order, field } = merge;
  checkOrder(patched ?? [], order, field.mergeKey);
  const live = [...(current ?? [])];
  let merged: Json[];
  if (current !== undefined && patched !== undefined) merged = merge.mergeOrReplace(current, patched, field);
  else merged = current ?? (merge.withoutDirectives(patched!) as Json[]);
  if (live.length === 0 && (patched ?? []).length === 0) throw internal('no elements in any of the given slices');
  return inOrder({ merged, first: order, live, ...(field.mergeKey === undefined ? {} : { mergeKey: field.mergeKey }) });
}

/** The patch's items must all stand in the order list, and in that order; items to be deleted do not count. */
function checkOrder(patched: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (patched.length === 0 || order.length === 0) return;
  const kept = patched.filter((item) => !(isObject(item) && Object.hasOwn(item, PATCH_DIRECTIVE)));
  let position = 0;
  for (const item of order) {
    if (position >= kept.length) return;
    if (identity(kept[position]!, mergeKey) === identity(item, mergeKey)) position++;
  }
  if (position < kept.length) {
    throw internal(
      `The order in patch list:\n${goText([...patched])}\n doesn't match $setElementOrder list:\n${goText([...order])}\n`,
    );
  }
}

function identity(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  if (!isObject(item)) throw internal('expected a map[string]interface {} in the list');
  return keyOf(item, mergeKey);
}

/** `$patch: delete` and `$patch: replace` as items of the list. */
function applyDirectives(
  current: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { current: readonly JsonObject[]; patch: readonly JsonObject[] } {
  const deleted = new Set<Json>();
  let replaces = false;
  const plain: JsonObject[] = [];
  for (const item of patch) {
    const directive = member(item, PATCH_DIRECTIVE);
    if (directive === undefined) {
      plain.push(item);
    } else if (directive === 'delete') {
      deleted.add(keyOf(item, mergeKey));
    } else if (directive === 'replace') {
      replaces = true;
    } else if (directive === 'merge') {
      throw internal('merging lists cannot yet be specified in the patch');
    } else {
      throw unknownDirective(directive, item);
    }
  }
  if (replaces) return { current: plain, patch: [] };
  if (deleted.size === 0) return { current, patch: plain };
  const remaining = current.filter((each) => {
    const value = member(each, mergeKey);
    return value === undefined || !deleted.has(value);
  });
  return { current: remaining, patch: plain };
}

interface Ordering {
  readonly merged: readonly Json[];
  /** Items in here keep this order among themselves. */
  readonly first: readonly Json[];
  /** The list before the patch: the others keep this order, and stand before what they stood before. */
  readonly live: readonly Json[];
  readonly mergeKey?: string;
}

function inOrder({ merged, first, live, mergeKey }: Ordering): Json[] {
  const itemKey = (item: Json): Json | undefined => {
    if (mergeKey === undefined) return item;
    return isObject(item) ? member(item, mergeKey) : undefined;
  };
  const firstAt = positions(first.map(itemKey));
  const liveAt = positions(live.map(itemKey));
  if (mergeKey !== undefined) for (const item of merged) keyOf(item as JsonObject, mergeKey);
  const place = (at: ReadonlyMap<Json | undefined, number>) => (item: Json) => at.get(itemKey(item)) ?? -1;
  const byFirst = sortedBy(
    merged.filter((item) => firstAt.has(itemKey(item))),
    place(firstAt),
  );
  const byLive = sortedBy(
    merged.filter((item) => !firstAt.has(itemKey(item))),
    place(liveAt),
  );
  const result: Json[] = [];
  let next = 0;
  for (const item of byFirst) {
    const limit = liveAt.get(itemKey(item));
    while (limit !== undefined && next < byLive.length) {
      const position = liveAt.get(itemKey(byLive[next]!));
      if (position === undefined || position >= limit) break;
      result.push(byLive[next++]!);
    }
    result.push(item);
  }
  return [...result, ...byLive.slice(next)];
}

function positions(values: readonly (Json | undefined)[]): ReadonlyMap<Json | undefined, number> {
  const at = new Map<Json | undefined, number>();
  for (const [index, value] of values.entries()) if (!at.has(value)) at.set(value, index);
  return at;
}

function sortedBy(items: Json[], place: (item: Json) => number): Json[] {
  return items.sort((left, right) => place(left) - place(right));
}

function holdObjects(...lists: readonly (readonly Json[])[]): boolean {
  const items = lists.flat(1) as Json[];
  if (lists.some((list) => list.some((item) => Array.isArray(item)))) {
    throw new PatchError('Invalid', 'the server rejected our request due to an error in our request');
  }
  const objects = items.filter(isObject).length;
  if (objects > 0 && objects < items.length) {
    throw internal(`list element types are not identical: ${goText(lists.map((list) => [...list]))}`);
  }
  return objects > 0;
}

function keyOf(item: JsonObject, mergeKey: string): Json {
  const value = member(item, mergeKey);
  if (value === undefined) throw internal(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  return value;
}

function internal(message: string): PatchError {
  return new PatchError('InternalError', message);
}
