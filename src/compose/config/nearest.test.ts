import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from './nearest.js';

describe('nearest name', () => {
  it('counts single edits', () => {
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('same', 'same')).toBe(0);
  });

  it('suggests the closest name, and none if all are far away', () => {
    expect(nearest('peer-ca-fil', ['peer', 'peer-ca-file', 'client-ca-file'])).toBe('peer-ca-file');
    expect(nearest('zzzzzz', ['peer', 'proxy'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
  });
});
