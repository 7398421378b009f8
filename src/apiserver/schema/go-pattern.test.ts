import { describe, expect, it } from 'vitest';
import { boundedMatcher, PATTERN_LENGTH_MAX, patternProblem } from './go-pattern.js';

describe('patternProblem', () => {
  it.each([
    ['a(b', 'error parsing regexp: missing closing ): `a(b`'],
    ['^(?!a)b', 'error parsing regexp: invalid or unsupported Perl syntax: `(?!`'],
    ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
    ['(a{1000}){1000}', 'error parsing regexp: invalid repeat count: `{1000}`'],
  ])('returns the error of Go for %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });

  it.each([`${'('.repeat(5_000)}${')'.repeat(5_000)}`, 'a'.repeat(PATTERN_LENGTH_MAX + 1)])(
    'refuses patterns that are too deep or too long (pattern %#)',
    (pattern) => {
      expect(patternProblem(pattern)).toContain('error parsing regexp');
    },
  );
});

describe('boundedMatcher', () => {
  it('matches anywhere in the text, as Go does', () => {
    expect(boundedMatcher()('b+', 'abbc')).toBe(true);
    expect(boundedMatcher()('^b+$', 'abbc')).toBe(false);
  });

  it('matches in linear time a pattern that causes exponential backtracking', () => {
    expect(boundedMatcher()('^(a+)+$', `${'a'.repeat(10_000)}b`)).toBe(false);
  });

  it('does not match beyond the budget of all matches together', () => {
    const matches = boundedMatcher(1_000);
    expect(matches('^a*$', 'a'.repeat(100))).toBe(true);
    expect(matches('^a*$', 'a'.repeat(100))).toBe(false);
  });
});
