import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeOrders, orderByFirst } from './group-order.js';

const letters = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 7 });

describe('mergeOrders', () => {
  it('keeps every list in its order and breaks ties lexicographically', () => {
    expect(mergeOrders([['z', 'm'], ['b', 'm', 'a'], ['c']])).toEqual(['b', 'c', 'z', 'm', 'a']);
  });

  it('returns undefined for lists that contradict each other', () => {
    expect(
      mergeOrders([
        ['a', 'b'],
        ['b', 'a'],
      ]),
    ).toBeUndefined();
    expect(
      mergeOrders([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ]),
    ).toBeUndefined();
  });

  it('does not depend on the order of the lists', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 4 }), (lists) => {
        expect(mergeOrders([...lists].reverse())).toEqual(mergeOrders(lists));
      }),
    );
  });

  it('preserves the relative order of every list if there is no cycle', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 4 }), (lists) => {
        const merged = mergeOrders(lists);
        if (!merged) return;
        expect(new Set(merged)).toEqual(new Set(lists.flat()));
        for (const list of lists) expect(merged.filter((item) => list.includes(item))).toEqual(list);
      }),
    );
  });
});

describe('orderByFirst', () => {
  it('keeps the first list and puts other items after their predecessors', () => {
    expect(
      orderByFirst([
        ['b', 'a'],
        ['x', 'a', 'y', 'b', 'z'],
      ]),
    ).toEqual(['x', 'b', 'z', 'a', 'y']);
  });

  it('keeps every item, and the order of the first list', () => {
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 4 }), (lists) => {
        const ordered = orderByFirst(lists);
        expect([...ordered].sort()).toEqual([...new Set(lists.flat())].sort());
        expect(ordered.filter((item) => lists[0]!.includes(item))).toEqual(lists[0]);
      }),
    );
  });
});
