import { describe, expect, it } from 'vitest';
import { takesGzip, takesIdentity } from './accept-encoding.js';

describe('takesGzip', () => {
  it.each([
    ['gzip', true],
    ['br;q=1, GZIP;q=0.5', true],
    ['x-gzip', true],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*, gzip; q=0', false],
    ['gzip;q=0.000', false],
    ['not-gzip', false],
    ['identity', false],
    ['', false],
  ])('reads Accept-Encoding %j as %s', (field, expected) => {
    expect(takesGzip(['Accept-Encoding', field])).toBe(expected);
  });

  it('returns false without an Accept-Encoding field', () => {
    expect(takesGzip(['Accept', 'gzip'])).toBe(false);
  });

  it('reads all Accept-Encoding fields as one list', () => {
    expect(takesGzip(['Accept-Encoding', 'br', 'accept-encoding', 'gzip'])).toBe(true);
    expect(takesGzip(['Accept-Encoding', '*', 'accept-encoding', 'gzip;q=0'])).toBe(false);
  });

  it('reads a bounded number of codings', () => {
    expect(takesGzip(['Accept-Encoding', `${'br,'.repeat(100)}gzip`])).toBe(false);
  });
});

describe('takesIdentity', () => {
  it.each([
    ['gzip', true],
    ['gzip;q=0', true],
    ['identity;q=0.1', true],
    ['identity;q=0', false],
    ['gzip, Identity; q=0.0', false],
    ['*;q=0', false],
    ['*;q=0, identity', true],
    ['', true],
  ])('reads Accept-Encoding %j as %s', (field, expected) => {
    expect(takesIdentity(['Accept-Encoding', field])).toBe(expected);
  });
});
