import { cloneJson, isObject, type Json, type JsonObject, member, setMember } from '../../kube/json.js';
import { ANY, type Schema } from '../schema/schema.js';
import { itemElement } from './path-element.js';
import { fieldSchema, isAtomic, isBare, shapeOf } from './structure.js';

/** Merges the applied configuration into the live object; changes neither. */
export function mergeApplied(live: JsonObject, applied: JsonObject, schema: Schema): JsonObject {
  return (merge(live, applied, schema) as JsonObject | undefined) ?? {};
}

/** Returns undefined if nothing is left. */
function merge(live: Json | undefined, applied: Json | undefined, schema: Schema): Json | undefined {
  const value = applied ?? live;
  const shape = shapeOf(schema, value);
  const isReplaced = isAtomic(schema, shape) || (isBare(live) && isBare(applied));
  if (!isReplaced && shape === 'map') return mergeMembers(live, applied, schema);
  if (!isReplaced && shape === 'list') return mergeItems(live, applied, schema);
  const winner = applied === undefined ? live : applied;
  return winner === undefined ? undefined : cloneJson(winner);
}

function mergeMembers(live: Json | undefined, applied: Json | undefined, schema: Schema): Json | undefined {
  const left = isObject(live) ? live : {};
  const right = isObject(applied) ? applied : {};
  const result: JsonObject = {};
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const merged = merge(member(left, name), member(right, name), fieldSchema(schema, name));
    if (merged !== undefined) setMember(result, name, merged);
  }
  return Object.keys(result).length > 0 ? result : undefined;
}

/**
 * Items of both lists get the order of the applied list. An item of the live list only stays before the
 * item that it preceded.
 */
function mergeItems(live: Json | undefined, applied: Json | undefined, schema: Schema): Json | undefined {
  const itemSchema = schema.items ?? ANY;
  const left = elementsOf(live, schema);
  const right = elementsOf(applied, schema);
  const liveAt = firstByElement(left);
  const appliedAt = new Map(right.map(({ element, item }) => [element, item]));
  const shared = right.filter(({ element }) => liveAt.has(element)).map(({ element }) => element);
  let sharedIndex = 0;
  const done = new Set<string>();
  const result: Json[] = [];
  const add = (former: Json | undefined, latter: Json | undefined): void => {
    const merged = merge(former, latter, itemSchema);
    if (merged !== undefined) result.push(merged);
  };
  const take = (element: string): void => {
    done.add(element);
    add(liveAt.get(element) ?? undefined, appliedAt.get(element));
    if (shared[sharedIndex] === element) sharedIndex++;
  };
  let leftIndex = 0;
  let rightIndex = 0;
  while (leftIndex < left.length || rightIndex < right.length) {
    const former = left[leftIndex];
    const latter = right[rightIndex];
    if (former !== undefined && latter !== undefined) {
      if (former.element === latter.element) {
        take(latter.element);
        leftIndex++;
        rightIndex++;
        continue;
      }
      // In both lists, but at another position of the applied one.
      const due = shared[sharedIndex];
      if (appliedAt.has(former.element) && due !== undefined && due !== former.element) {
        leftIndex++;
        continue;
      }
    }
    if (former !== undefined) {
      if (!appliedAt.has(former.element)) {
        add(former.item, undefined);
        leftIndex++;
        continue;
      }
      if (done.has(former.element)) leftIndex++;
    }
    if (latter !== undefined) {
      take(latter.element);
      rightIndex++;
    }
  }
  return result.length > 0 ? result : undefined;
}

interface Element {
  readonly element: string;
  readonly item: Json;
}

function elementsOf(list: Json | undefined, schema: Schema): Element[] {
  return (Array.isArray(list) ? list : []).map((item) => ({ element: itemElement(schema, item), item }));
}

/** Duplicate live items are not merged with applied ones: null stands for them. */
function firstByElement(elements: readonly Element[]): Map<string, Json> {
  const items = new Map<string, Json>();
  for (const { element, item } of elements) items.set(element, items.has(element) ? null : item);
  return items;
}
