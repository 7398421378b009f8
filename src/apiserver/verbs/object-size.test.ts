import { describe, expect, it } from 'vitest';
import { OBJECT_BYTES_MAX, OBJECT_VALUES_MAX } from '../contracts/size-bounds.js';
import { checkObjectSize } from './object-size.js';

const TOO_LARGE = expect.objectContaining({ status: expect.objectContaining({ code: 413 }) });

describe('checkObjectSize', () => {
  it('accepts as many values as the bound, and refuses one more', () => {
    const list = new Array<number>(OBJECT_VALUES_MAX - 1).fill(1);
    expect(() => checkObjectSize({ list })).not.toThrow();
    list.push(1);
    expect(() => checkObjectSize({ list })).toThrow(TOO_LARGE);
  });

  it('refuses few values of too many bytes, in values and in names', () => {
    const text = 'x'.repeat(OBJECT_BYTES_MAX);
    expect(() => checkObjectSize({ data: { text } })).toThrow(TOO_LARGE);
    expect(() => checkObjectSize({ [text]: null })).toThrow(TOO_LARGE);
    expect(() => checkObjectSize({ data: { text: text.slice(100) } })).not.toThrow();
  });
});
