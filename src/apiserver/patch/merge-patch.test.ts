import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../kube/json.js';
import { applyMergePatch } from './merge-patch.js';

describe('applyMergePatch', () => {
  // The examples of RFC 7386 whose document and patch are objects, then cases in which kube-apiserver differs from it.
  it.each<[JsonObject, Json, JsonObject]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 1 }, { a: { b: { c: null, d: 1 } } }, { a: { b: { d: 1 } } }],
    [{}, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
    [{ a: { x: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ])('merges into %j the patch %j', (document, patch, expected) => {
    const before = JSON.stringify([document, patch]);
    expect(applyMergePatch(document, patch)).toEqual(expected);
    expect(JSON.stringify([document, patch])).toBe(before);
  });

  it('merges a member named __proto__ without a change of the prototype', () => {
    const merged = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'));
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"x":1}}');
    expect((merged as { x?: number }).x).toBeUndefined();
  });

  it.each<[Json, string]>([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['s', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
  ])('refuses %j with the words of kube-apiserver', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(message);
  });
});
