import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cloneJson, type Json, type JsonObject, member } from '../../kube/json.js';
import { mergeLists } from './strategic-merge-patch-lists.js';

const mergeItems = (item: JsonObject, patch: JsonObject): JsonObject => {
  const result = { ...item, ...patch };
  // As in a patch: null removes.
  for (const key of Object.keys(result)) if (result[key] === null) delete result[key];
  return result;
};

/** Searches the whole list for each item. Without the order of the result, which depends on the keys only. */
function searched(current: readonly JsonObject[], patch: readonly JsonObject[]): JsonObject[] {
  let merged = [...current];
  for (const { $patch, name } of patch)
    if ($patch === 'delete') merged = merged.filter((each) => each['name'] !== name);
  for (const item of patch.filter(({ $patch }) => $patch === undefined)) {
    const at = merged.findIndex((each) => member(each, 'name') === item['name']);
    if (at >= 0) merged[at] = mergeItems(merged[at]!, item);
    else merged.push(item);
  }
  return merged;
}

const name = fc.constantFrom<Json>('a', 'b', 'c', 1, 0, null, true);
const item = fc.record({ name, value: fc.nat(9) });
const change = fc.oneof({ weight: 4, arbitrary: item }, fc.record({ name, $patch: fc.constant('delete') }));
const sorted = (items: readonly Json[]): string[] => items.map((each) => JSON.stringify(each)).sort();

describe('mergeLists', () => {
  it('finds the items that a search of the whole list for each item finds', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 8 }), fc.array(change, { maxLength: 8 }), (live, patch) => {
        const field = { strategies: ['merge'], mergeKey: 'name' };
        const expected = searched(cloneJson(live as JsonObject[]), cloneJson(patch as JsonObject[]));
        // An item that lost its key cannot be put in order: such a patch is refused.
        fc.pre(expected.every((each) => Object.hasOwn(each, 'name')));
        const merged = mergeLists(cloneJson(live as Json[]), cloneJson(patch as Json[]), field, mergeItems);
        expect(sorted(merged)).toEqual(sorted(expected));
      }),
      { numRuns: 500 },
    );
  });

  it('merges 20,000 items into 20,000 without searching the list for each of them', () => {
    let reads = 0;
    const counted = (index: number): JsonObject =>
      new Proxy({ name: `n${index}`, value: 1 } as JsonObject, {
        getOwnPropertyDescriptor(target, key) {
          reads++;
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
      });
    const live = Array.from({ length: 20_000 }, (_, index) => counted(index));
    const patch = Array.from({ length: 20_000 }, (_, index) => ({ name: `n${19_999 - index}`, value: 2 }));
    mergeLists(live, patch, { strategies: ['merge'], mergeKey: 'name' }, mergeItems);
    expect(reads).toBeLessThan(20 * 20_000);
  });
});
