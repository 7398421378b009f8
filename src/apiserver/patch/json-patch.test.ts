import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../kube/json.js';
import { applyJsonPatch, JSON_PATCH_OPERATIONS_MAX, parseJsonPatch } from './json-patch.js';
import { PatchError } from './json-patch-error.js';

function patched(document: Json, patch: Json): Json {
  return applyJsonPatch(document, parseJsonPatch(patch).operations);
}

function refusal(action: () => unknown): { reason: string; message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof PatchError) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('was not refused');
}

describe('applyJsonPatch', () => {
  it.each<[string, Json, Json, Json]>([
    ['adds a member', { a: 1 }, [{ op: 'add', path: '/b', value: { c: 2 } }], { a: 1, b: { c: 2 } }],
    ['adds before an item', [1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    ['adds at the end with -', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['counts negative indices from the end', [1, 2], [{ op: 'remove', path: '/-1' }], [1]],
    ['adds null where no value is given', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['removes an item', [1, 2, 3], [{ op: 'remove', path: '/1' }], [1, 3]],
    ['replaces', { a: 1 }, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['replaces what was not there, as kube-apiserver does', {}, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['replaces the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['moves', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    ['moves within a list', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    ['copies', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    ['unescapes ~1 and ~0', { 'a/b~c': 1 }, [{ op: 'replace', path: '/a~1b~0c', value: 2 }], { 'a/b~c': 2 }],
    [
      'passes a test in any member order',
      { a: { x: 1, y: [2] } },
      [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
      { a: { x: 1, y: [2] } },
    ],
    ['passes a test of null for what is not there', { a: 1 }, [{ op: 'test', path: '/b', value: null }], { a: 1 }],
    ['tests the whole document', { a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }], { a: 1 }],
  ])('%s', (_, document, patch, expected) => {
    expect(patched(document, patch)).toEqual(expected);
  });

  it('does not change the document and the patch', () => {
    const document = { a: {} };
    const patch: Json = [
      { op: 'add', path: '/b', value: {} },
      { op: 'add', path: '/b/c', value: 1 },
    ];
    expect(patched(document, patch)).toEqual({ a: {}, b: { c: 1 } });
    expect(document).toEqual({ a: {} });
    expect(patch).toEqual([
      { op: 'add', path: '/b', value: {} },
      { op: 'add', path: '/b/c', value: 1 },
    ]);
  });

  it.each<[string, Json]>([
    ['a failing test', [{ op: 'test', path: '/a', value: 2 }]],
    ['an unknown operation', [{ op: 'foo', path: '/a' }]],
    ['an inherited name as operation', [{ op: 'toString', path: '/a' }]],
    ['no path', [{ op: 'add', value: 1 }]],
    ['no from', [{ op: 'move', path: '/a' }]],
    ['removing what is not there', [{ op: 'remove', path: '/zz' }]],
    ['adding below what is not there', [{ op: 'add', path: '/zz/a', value: 1 }]],
    ['adding below a scalar', [{ op: 'add', path: '/a/b', value: 1 }]],
    ['adding below a null', [{ op: 'add', path: '/n/b', value: 1 }]],
    ['adding at the root', [{ op: 'add', path: '', value: {} }]],
    ['an index out of range', [{ op: 'add', path: '/l/5', value: 1 }]],
    ['an index that is none', [{ op: 'replace', path: '/l/x', value: 1 }]],
    ['replacing the root by a scalar', [{ op: 'replace', path: '', value: 1 }]],
    ['reaching for the prototype', [{ op: 'add', path: '/__proto__/x', value: 1 }]],
  ])('refuses %s as kube-apiserver does', (_, patch) => {
    expect(refusal(() => patched({ a: 1, n: null, l: [1] }, patch))).toEqual({
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  });

  it('refuses copies beyond the bound on added bytes', () => {
    const double: Json = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(refusal(() => patched({ a: ['x'.repeat(1000)] }, double)).reason).toBe('Invalid');
  });

  it('does not change the prototype with a member named __proto__', () => {
    const result = patched({}, [{ op: 'add', path: '/__proto__', value: { x: 1 } }]) as object;
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1}}');
  });

  it('throws no other error than PatchError', () => {
    const path = fc.constantFrom('', '/a', '/a/0', '/a/-', '/b/c', '/-1', 'x', '/a/b/c');
    const operation = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'no'),
      path,
      from: path,
      value: fc.jsonValue({ maxDepth: 2 }),
    });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.array(operation, { maxLength: 6 }), (document, operations) => {
        try {
          patched(document as Json, operations as Json);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError);
        }
      }),
    );
  });
});

describe('parseJsonPatch', () => {
  it.each<[Json, string]>([
    [{ a: 1 }, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [[1], 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      [{ op: 1 }],
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
  ])('refuses %j with the words of kube-apiserver', (body, message) => {
    expect(refusal(() => parseJsonPatch(body))).toEqual({ reason: 'BadRequest', message });
  });

  it('refuses more operations than allowed', () => {
    const body = Array.from({ length: JSON_PATCH_OPERATIONS_MAX + 1 }, () => ({ op: 'test', path: '/a', value: 1 }));
    expect(refusal(() => parseJsonPatch(body))).toEqual({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });

  it('reports unknown members of an operation', () => {
    expect(parseJsonPatch([{ op: 'add', path: '/a', value: 1, bogus: 2 }]).problems).toEqual([
      'json patch unknown field "[0].bogus"',
    ]);
  });
});
