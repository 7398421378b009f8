import { describe, expect, it } from 'vitest';
import { boundedMatcher, PATTERN_LENGTH_MAX, patternProblem } from './go-pattern.js';

describe('patternProblem', () => {
  it.each([
    ['a(b', 'error parsing regexp: missing closing ): `a(b`'],
    ['^(?!a)b', 'error parsing regexp: invalid or unsupported Perl syntax: `(?!`'],
    ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
    ['(a{1000}){1000}', 'error parsing regexp: invalid repeat count: `{1000}`'],
  ])('says of %s what Go says', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });

  it.each([`${'('.repeat(5_000)}${')'.repeat(5_000)}`, 'a'.repeat(PATTERN_LENGTH_MAX + 1)])(
    'refuses patterns that are made to break things',
    (pattern) => {
      expect(patternProblem(pattern)).toContain('error parsing regexp');
    },
  );
});

describe('boundedMatcher', () => {
  it('matches anywhere, as Go does', () => {
    expect(boundedMatcher()('b+', 'abbc')).toBe(true);
    expect(boundedMatcher()('^b+$', 'abbc')).toBe(false);
  });

  it('is not caught by patterns that others take for ever on', () => {
    expect(boundedMatcher()('^(a+)+$', `${'a'.repeat(10_000)}b`)).toBe(false);
  });

  it('gives up where all matches of an object take too long together', () => {
    const matches = boundedMatcher(1_000);
    expect(matches('^a*$', 'a'.repeat(100))).toBe(true);
    expect(matches('^a*$', 'a'.repeat(100))).toBe(false);
  });
});
