import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { customResourceSchema, SchemaError } from './custom-resource-schema.js';
import { GADGET } from './gadget.fixture.js';
import { type FieldProblem, formatProblems, objectProblemSteps, type ValidationOptions } from './validate.js';

function problemsOf(object: JsonObject, options: ValidationOptions = {}): FieldProblem[] {
  return runAtOnce(objectProblemSteps(object, undefined, GADGET, options));
}

const matchesPattern = (pattern: string, text: string): boolean => pattern === '^a+$' && /^a+$/.test(text);

function messageOf(spec: Json): string {
  return formatProblems(problemsOf({ metadata: { name: 'g' }, spec }, { matchesPattern }));
}

describe('validation of custom resources by their schema', () => {
  // The right side is what a kube-apiserver 1.36.4 answers after `Gadget.example.com "g" is invalid: `.
  it.each<[Json, string]>([
    [{}, 'spec.must: Required value'],
    [{ must: 1 }, 'spec.must: Invalid value: "integer": spec.must in body must be of type string: "integer"'],
    [{ must: 'a', int: 1 }, 'spec.int: Invalid value: 1: spec.int in body should be greater than or equal to 2'],
    [{ must: 'a', int: 9 }, 'spec.int: Invalid value: 9: spec.int in body should be less than or equal to 5'],
    [
      { must: 'a', int: 1.5 },
      '[spec.int: Invalid value: "number": spec.int in body must be of type integer: "number", <nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.int, spec.int: Invalid value: 1.5: spec.int in body should be greater than or equal to 2]',
    ],
    [{ must: 'a', int: 'x' }, 'spec.int: Invalid value: "string": spec.int in body must be of type integer: "string"'],
    [{ must: 'a', num: 1.5 }, 'spec.num: Invalid value: 1.5: spec.num in body should be greater than 1.5'],
    [{ must: 'a', num: 1.7 }, 'spec.num: Invalid value: 1.7: spec.num in body should be a multiple of 0.5'],
    [
      { must: 'a', i32: 3000000000 },
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32',
    ],
    [{ must: 'a', b: 'x' }, 'spec.b: Invalid value: "string": spec.b in body must be of type boolean: "string"'],
    [{ must: 'a', s: 'x' }, 'spec.s: Invalid value: "x": spec.s in body should be at least 2 chars long'],
    [{ must: 'a', s: 'xxxxx' }, 'spec.s: Too long: may not be more than 4 bytes'],
    [{ must: 'a', pat: 'b' }, `spec.pat: Invalid value: "b": spec.pat in body should match '^a+$'`],
    [{ must: 'a', en: 'z' }, 'spec.en: Unsupported value: "z": supported values: "x", "y"'],
    [{ must: 'a', list: [] }, 'spec.list: Invalid value: 0: spec.list in body should have at least 1 items'],
    [{ must: 'a', list: ['a', 'b', 'c'] }, 'spec.list: Too many: 3: must have at most 2 items'],
    [
      { must: 'a', list: [1] },
      'spec.list[0]: Invalid value: "integer": spec.list[0] in body must be of type string: "integer"',
    ],
    [{ must: 'a', list: {} }, 'spec.list: Invalid value: "object": spec.list in body must be of type array: "object"'],
    [{ must: 'a', set: ['a', 'a'] }, 'spec.set[1]: Duplicate value: "a"'],
    [{ must: 'a', parts: [{ id: '1' }, { id: '1' }] }, 'spec.parts[1]: Duplicate value: {"id":"1"}'],
    [{ must: 'a', parts: [{ z: '1' }] }, 'spec.parts[0].id: Required value'],
    [
      { must: 'a', parts: [null] },
      'spec.parts[0]: Invalid value: "null": spec.parts[0] in body must be of type object: "null"',
    ],
    [{ must: 'a', m: {} }, 'spec.m: Invalid value: 0: spec.m in body should have at least 1 properties'],
    [{ must: 'a', m: { a: 1, b: 2, c: 3 } }, 'spec.m: Too many: 3: must have at most 2 items'],
    [
      { must: 'a', m: { a: 'x' } },
      'spec.m.a: Invalid value: "string": spec.m.a in body must be of type integer: "string"',
    ],
    [
      { must: 'a', ios: true },
      'spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"',
    ],
    [
      { must: 'a', ios: 1.5 },
      'spec.ios: Invalid value: "number": spec.ios in body must be of type integer,string: "number"',
    ],
    [{ must: 'a', dt: 'x' }, 'spec.dt: Invalid value: "x": spec.dt in body must be of type date-time: "x"'],
    [{ must: 'a', by: '*' }, 'spec.by: Invalid value: "*": spec.by in body must be of type byte: "*"'],
    [[], 'spec: Invalid value: "array": spec in body must be of type object: "array"'],
  ])('refuses %j with the words of kube-apiserver', (spec, message) => {
    expect(messageOf(spec)).toBe(message);
  });

  it('returns reason and field of each cause', () => {
    expect(problemsOf({ spec: { int: 1 } })).toEqual([
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 1: spec.int in body should be greater than or equal to 2',
        field: 'spec.int',
      },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.must' },
    ]);
  });

  it('accepts an object that fits the schema', () => {
    const spec = {
      must: 'a',
      int: 2,
      num: 2.5,
      s: 'üüüü',
      ios: '1',
      dt: '2026-01-02T03:04:05Z',
      by: 'AAAA',
      nul: null,
    };
    expect(problemsOf({ spec })).toEqual([]);
  });

  it('ignores patterns without a safe matcher', () => {
    expect(problemsOf({ spec: { must: 'a', pat: 'b' } })).toEqual([]);
  });

  it('returns no more than 100 problems', () => {
    const list = Array.from({ length: 1000 }, () => 1);
    expect(problemsOf({ spec: { must: 'a', set: list } })).toHaveLength(100);
  });
});

describe('customResourceSchema', () => {
  it('throws SchemaError for 300 levels of properties', () => {
    let deep: Json = { type: 'string' };
    for (let level = 0; level < 300; level++) deep = { type: 'object', properties: { a: deep } };
    expect(() => customResourceSchema(deep as never, {})).toThrow(SchemaError);
  });
});
