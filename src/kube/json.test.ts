import { describe, expect, it } from 'vitest';
import { cloneJson, isDeeperThan, type Json, jsonEqual, member, setMember } from './json.js';

describe('JSON functions', () => {
  it('jsonEqual ignores the order of members, and no other difference', () => {
    expect(jsonEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(jsonEqual({ a: 1 }, { a: 1, b: null })).toBe(false);
    expect(jsonEqual([1, 2], [2, 1])).toBe(false);
    expect(jsonEqual({ a: null }, {})).toBe(false);
    expect(jsonEqual(JSON.parse('{"toString":1}'), {})).toBe(false);
  });

  it('cloneJson, member and setMember treat __proto__ and constructor as data', () => {
    const document = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
    const copy = cloneJson(document);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(document));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(member({}, 'constructor')).toBeUndefined();
    const target = {};
    setMember(target, '__proto__', { x: 1 });
    expect((target as { x?: number }).x).toBeUndefined();
  });

  it('isDeeperThan measures depth without recursion', () => {
    let deep: Json = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(isDeeperThan(deep, 1_000)).toBe(true);
    expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
    expect(isDeeperThan({ a: [1] }, 1)).toBe(true);
  });
});
