import { describe, expect, it } from 'vitest';
import { goJsonSyntaxError } from './go-json-syntax.js';

describe('goJsonSyntaxError', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['hello', `invalid character 'h' looking for beginning of value`],
    ['trap', `invalid character 'a' in literal true (expecting 'u')`],
    ['{a:1}', `invalid character 'a' looking for beginning of object key string`],
    ['{"a" 1}', `invalid character '1' after object key`],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
    ['[1 2]', `invalid character '2' after array element`],
    ['[1,]', `invalid character ']' looking for beginning of value`],
    ['{} x', `invalid character 'x' after top-level value`],
    ['"a\nb"', `invalid character '\\n' in string literal`],
    ['"\\x"', `invalid character 'x' in string escape code`],
    ['"\\u12g4"', `invalid character 'g' in \\u hexadecimal character escape`],
    ['-x', `invalid character 'x' in numeric literal`],
    ['1.x', `invalid character 'x' after decimal point in numeric literal`],
    ['1ex', `invalid character 'x' in exponent of numeric literal`],
    ['01', `invalid character '1' after top-level value`],
  ])('returns the error of Go for %j', (text, message) => {
    expect(goJsonSyntaxError(text)).toBe(message);
  });

  it.each(['{}', ' [1, -2.5e+3, "\\u00e9\\n", true, false, null, {"a": []}] ', '0'])(
    'returns undefined for %j',
    (text) => {
      expect(goJsonSyntaxError(text)).toBeUndefined();
    },
  );

  it('stops at the depth at which Go stops, without running out of stack', () => {
    expect(goJsonSyntaxError('['.repeat(10_001))).toBe('exceeded max depth');
    expect(goJsonSyntaxError('['.repeat(1_000_000))).toBe('exceeded max depth');
  });
});
