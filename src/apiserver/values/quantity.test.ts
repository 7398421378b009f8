import { describe, expect, it } from 'vitest';
import { canonicalQuantity, compareQuantities, parseQuantity, QuantityError } from './quantity.js';

describe('quantities', () => {
  it.each([
    ['0', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['1.0', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['1500m', '1500m'],
    ['1000m', '1'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['1023Ki', '1023Ki'],
    ['1Ki', '1Ki'],
    ['0.5Ki', '512'],
    ['1.5Gi', '1536Mi'],
    ['0.0001Ki', '102400u'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['100e-3', '100e-3'],
    ['12e6', '12e6'],
    ['5E', '5E'],
    ['123456789n', '123456789n'],
    ['0.1n', '1n'],
    ['-5m', '-5m'],
    ['1000000', '1M'],
  ])('have for %s the canonical form %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it('may be JSON numbers', () => expect(canonicalQuantity(0.25)).toBe('250m'));

  it('are compared across suffixes', () => {
    expect(compareQuantities(parseQuantity('1Ki'), parseQuantity('1024'))).toBe(0);
    expect(compareQuantities(parseQuantity('1k'), parseQuantity('1Ki'))).toBe(-1);
    expect(compareQuantities(parseQuantity('2'), parseQuantity('1999m'))).toBe(1);
  });

  it('are capped at 2^63-1', () => {
    expect(canonicalQuantity('99999999999E')).toBe(canonicalQuantity('9223372036854775807'));
  });

  it.each(['', 'x', '1x', '-', '1 Gi', '1KiKi', '1..2', `1${'0'.repeat(100)}`, '1e', '١'])(
    'are refused if malformed: %j',
    (text) => {
      expect(() => parseQuantity(text)).toThrow(QuantityError);
    },
  );

  it('are parsed quickly with hostile exponents', () => {
    expect(canonicalQuantity('1e999999999')).toBeTruthy();
    expect(canonicalQuantity('1e-999999999')).toBeTruthy();
  });
});
