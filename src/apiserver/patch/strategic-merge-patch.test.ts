import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { PatchError } from './json-patch-error.js';
import { type PatchSchema, strategicMergeSteps } from './strategic-merge-patch.js';

const ITEM: PatchSchema = {
  field: (name) => (name === 'ports' ? { strategies: ['merge'], mergeKey: 'port' } : undefined),
};

const TYPE: PatchSchema = {
  field(name) {
    if (name === 'items') return { strategies: ['merge'], mergeKey: 'name', schema: ITEM };
    if (name === 'names') return { strategies: ['merge'] };
    if (name === 'whole') return { strategies: ['replace'] };
    if (name === 'deep') return { strategies: [], schema: TYPE };
    return undefined;
  },
};

describe('applyStrategicMergePatch', () => {
  it.each<[string, JsonObject, Json, JsonObject]>([
    ['merges objects', { a: { x: 1, y: 2 } }, { a: { y: 3, x: null } }, { a: { y: 3 } }],
    ['replaces lists without a strategy', { l: [1, 2] }, { l: [3] }, { l: [3] }],
    ['replaces an object whose strategy says so', { whole: { a: 1 } }, { whole: { b: 2 } }, { whole: { b: 2 } }],
    [
      'merges a list by its key',
      { items: [{ name: 'a', v: 1 }, { name: 'b' }] },
      { items: [{ name: 'a', v: 2, w: 3 }] },
      { items: [{ name: 'a', v: 2, w: 3 }, { name: 'b' }] },
    ],
    [
      'puts a new item before the ones that were there',
      { items: [{ name: 'a' }] },
      { items: [{ name: 'b' }] },
      { items: [{ name: 'b' }, { name: 'a' }] },
    ],
    [
      'merges lists inside of items',
      { items: [{ name: 'a', ports: [{ port: 1, x: 1 }] }] },
      { items: [{ name: 'a', ports: [{ port: 2 }, { port: 1, x: null }] }] },
      { items: [{ name: 'a', ports: [{ port: 2 }, { port: 1 }] }] },
    ],
    [
      'keeps the order of the patch among its items',
      { items: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
      {
        items: [
          { name: 'c', v: 1 },
          { name: 'a', v: 1 },
        ],
      },
      { items: [{ name: 'b' }, { name: 'c', v: 1 }, { name: 'a', v: 1 }] },
    ],
    [
      'deletes an item',
      { items: [{ name: 'a' }, { name: 'b' }] },
      { items: [{ $patch: 'delete', name: 'a' }] },
      { items: [{ name: 'b' }] },
    ],
    [
      'replaces a list',
      { items: [{ name: 'a' }] },
      { items: [{ name: 'c' }, { $patch: 'replace' }, { name: 'b' }] },
      { items: [{ name: 'c' }, { name: 'b' }] },
    ],
    ['replaces an object', { deep: { a: 1 } }, { deep: { b: 1, $patch: 'replace' } }, { deep: { b: 1 } }],
    ['empties an object', { deep: { a: 1 } }, { deep: { $patch: 'delete' } }, { deep: {} }],
    ['joins scalars as a set', { names: ['a', 'b'] }, { names: ['c', 'a'] }, { names: ['c', 'a', 'b'] }],
    [
      'deletes from scalars',
      { names: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/names': ['b', 'x'] },
      { names: ['a', 'c'] },
    ],
    ['ignores deletions from a list that is not there', {}, { '$deleteFromPrimitiveList/names': ['b'] }, {}],
    [
      'retains only the named keys',
      { deep: { a: 1, b: 2 } },
      { deep: { $retainKeys: ['b', 'c'], c: 3 } },
      { deep: { b: 2, c: 3 } },
    ],
    [
      'orders scalars',
      { names: ['a', 'b', 'c'] },
      { '$setElementOrder/names': ['c', 'a'], names: ['c'] },
      { names: ['b', 'c', 'a'] },
    ],
    [
      'orders items',
      { items: [{ name: 'a' }, { name: 'x' }, { name: 'b' }] },
      { '$setElementOrder/items': [{ name: 'b' }, { name: 'n' }, { name: 'a' }], items: [{ name: 'n' }] },
      { items: [{ name: 'x' }, { name: 'b' }, { name: 'n' }, { name: 'a' }] },
    ],
    [
      'orders without a list in the patch',
      { items: [{ name: 'a' }, { name: 'b' }] },
      { '$setElementOrder/items': [{ name: 'b' }, { name: 'a' }] },
      { items: [{ name: 'b' }, { name: 'a' }] },
    ],
    ['ignores an order for nothing', {}, { '$setElementOrder/items': [{ name: 'b' }] }, {}],
    [
      'takes a new list without its directives',
      {},
      { items: [{ name: 'a' }, { $patch: 'delete', name: 'b' }] },
      { items: [{ name: 'a' }] },
    ],
    ['takes no nulls along', {}, { deep: { a: null, b: [{ c: null }] } }, { deep: { b: [{}] } }],
    ['changes a type', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['changes nothing for null', { a: 1 }, null, { a: 1 }],
  ])('%s', (_, document, patch, expected) => {
    const before = JSON.stringify([document, patch]);
    expect(runAtOnce(strategicMergeSteps(document, patch, TYPE))).toEqual(expected);
    expect(JSON.stringify([document, patch])).toBe(before);
  });

  it.each<[string, Json, string, string]>([
    ['an unknown directive', { $patch: 'foo' }, 'InternalError', 'unknown patch type: foo in map: map[$patch:foo]'],
    [
      'a key outside of $retainKeys',
      { deep: { $retainKeys: ['x'], y: '1' } },
      'BadRequest',
      'invalid patch format of retainKeys',
    ],
    [
      'an item without its key',
      { items: [{ v: 1 }] },
      'InternalError',
      'map: map[v:1] does not contain declared merge key: name',
    ],
    [
      'an order that the patch does not follow',
      { names: ['a'], '$setElementOrder/names': ['d'] },
      'InternalError',
      "The order in patch list:\n[a]\n doesn't match $setElementOrder list:\n[d]\n",
    ],
    [
      'a directive without a list name',
      { $deleteFromPrimitiveList: ['a'] },
      'BadRequest',
      'invalid patch format of primitive list',
    ],
    ['mixed items', { items: [1] }, 'InternalError', 'list element types are not identical: [[map[name:a]] [1]]'],
    ['lists of lists', { names: [['a']] }, 'Invalid', 'the server rejected our request due to an error in our request'],
    ['a list as patch', [], 'BadRequest', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ])('refuses %s with the words of kube-apiserver', (_, patch, reason, message) => {
    const document = { deep: { a: 1 }, items: [{ name: 'a' }], names: ['z'] };
    try {
      runAtOnce(strategicMergeSteps(document, patch, TYPE));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(PatchError);
      expect(error).toMatchObject({ reason, message });
    }
  });

  it('refuses a strategic merge patch of a custom resource', () => {
    expect(() => runAtOnce(strategicMergeSteps({}, {}, undefined))).toThrow(
      'strategic merge patch format is not supported',
    );
  });
});
