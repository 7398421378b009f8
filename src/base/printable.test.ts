import { describe, expect, it } from 'vitest';
import { printable, printableLine } from './printable.js';

describe('printable', () => {
  it.each([
    ['colors', '\x1b[31mred\x1b[0m', 'red'],
    ['the title of the window', 'a\x1b]0;title\x07b\x1b]2;title\x1b\\c', 'abc'],
    ['an incomplete sequence', 'a\x1b', 'a\ufffd'],
    ['eight-bit controls', 'a\x9b31mb', 'a\ufffd31mb'],
    ['bidirectional controls', 'a\u202eb\u2066c', 'a\ufffdb\ufffdc'],
    ['line ends', 'a\r\nb\rc\td', 'a\nb\nc\td'],
  ])('replaces %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('leaves letters of any language alone', () => {
    expect(printable('größer, 更大, أكبر')).toBe('größer, 更大, أكبر');
  });
});

describe('printableLine', () => {
  it('has no line end and single spaces', () => {
    expect(printableLine(' a\r\n  b\x1b[2Kc\t\u2028d\n')).toBe('a bc d');
  });
});
