import { describe, expect, it } from 'vitest';
import { PROBLEMS_MAX } from '../schema/field-problems.js';
import { dnsLabelProblems } from './built-in-formats.js';
import { Problems } from './problems.js';

describe('validation problems of built-in kinds', () => {
  it('print control characters of a text as Go does, and escape HTML in other values', () => {
    const problems = new Problems();
    problems.invalid('a', 'x\x07<', 'no');
    problems.invalid('b', { B: '<', A: 1 }, 'no');
    problems.unsupported('c', undefined, ['d']);
    expect(problems.all.map(({ message }) => message)).toEqual([
      'Invalid value: "x\\a<": no',
      'Invalid value: {"B":"\\u003c","A":1}: no',
      'Unsupported value: null: supported values: "d"',
    ]);
  });

  it('are recorded for missing, empty, malformed and repeated members', () => {
    const problems = new Problems();
    const seen = new Set<string>();
    problems.requiredMembers({ a: '', b: [], c: 0 }, 'spec', 'a', 'b', 'c', 'd');
    problems.requiredFormat('e', '', dnsLabelProblems);
    problems.optionalFormat('f', '', dnsLabelProblems);
    problems.unique('g', 'x', seen);
    problems.unique('h', 'x', seen);
    problems.optionalOneOf({ i: 'j' }, '', 'i', ['k']);
    problems.optionalOneOf({}, '', 'l', ['k']);
    problems.nonNegativeMembers({ m: -1, n: 0 }, '', 'm', 'n', 'o');
    expect(problems.all.map(({ field }) => field)).toEqual(['spec.a', 'spec.b', 'spec.d', 'e', 'h', 'i', 'm']);
  });

  it('are dropped beyond the bound on their number', () => {
    const problems = new Problems();
    for (let count = 0; count <= PROBLEMS_MAX; count++) problems.required('a');
    expect(problems.isFull).toBe(true);
    expect(problems.count).toBe(PROBLEMS_MAX);
  });
});
