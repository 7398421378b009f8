import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { patternSize } from './pattern-size.js';

describe('patternSize', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['[a-z]]', 2],
    ['[]\\]]x', 2],
    ['\\.\\{', 2],
    ['a{3}', 3],
    ['a{2,5}', 5],
    ['(ab){10}', 40],
    ['((a){10}){10}', 320],
    ['a{x}', 4],
  ])('of %j is %i', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });

  it('grows with the size of the compiled program', () => {
    for (const pattern of ['(a|b){1000}', '(a|b){1000}(c|d){1000}', '([a-z0-9]{1,63}\\.){0,10}x', '(?:a{30}b){30}']) {
      const ratio = RE2JS.compile(pattern).programSize() / patternSize(pattern);
      expect(ratio).toBeGreaterThan(0.2);
      expect(ratio).toBeLessThan(3);
    }
  });

  it('accepts any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab(){}[]\\^,19|*') }), (text) => patternSize(text) >= 0),
    );
  });
});
