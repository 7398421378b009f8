import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CborError, CborSequence, cborItemEnd, cborValueAt } from './cbor-wire.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const ITEM_BYTES_MAX = 1_000;

/** Items of RFC 8949, appendix A, with definite lengths. */
const ITEMS = [
  '00',
  '1864',
  '1a000f4240',
  '1bffffffffffffffff',
  '3903e7',
  'f93c00',
  'fb3ff199999999999a',
  'f4',
  'f8ff',
  'c074323031332d30332d32315432303a30343a30305a',
  'd818456449455446',
  '40',
  '4401020304',
  '6449455446',
  '80',
  '8301820203820405',
  '98190102030405060708090a0b0c0d0e0f101112131415161718181819',
  'a0',
  'a26161016162820203',
  '826161a161626163',
].map(hex);

describe('CborSequence', () => {
  it('finds the end of each item, wherever the sequence is cut', () => {
    const bytes = Buffer.concat(ITEMS);
    const ends = ITEMS.map((_, i) => ITEMS.slice(0, i + 1).reduce((sum, item) => sum + item.length, 0));
    for (let cut = 0; cut <= bytes.length; cut++) {
      const sequence = new CborSequence(ITEM_BYTES_MAX);
      const first = sequence.take(bytes.subarray(0, cut));
      expect(first).toBe(Math.max(0, ...ends.filter((end) => end <= cut)));
      const last = sequence.take(bytes.subarray(cut));
      expect(last).toBe(cut === bytes.length ? 0 : bytes.length - cut);
      if (last > 0) expect(sequence.lastStart).toBe(Math.max(0, ends.at(-2)! - cut));
    }
  });

  it('finds the end of each item in pieces of one byte', () => {
    const sequence = new CborSequence(ITEM_BYTES_MAX);
    for (const item of ITEMS) {
      const found = [...item].map((byte) => sequence.take(Uint8Array.of(byte)));
      expect(found).toEqual([...Array(item.length - 1).fill(0), 1]);
    }
  });

  it('begins anew after a reset in the middle of an item', () => {
    for (const item of ITEMS) {
      for (let cut = 0; cut < item.length; cut++) {
        const sequence = new CborSequence(ITEM_BYTES_MAX);
        sequence.take(item.subarray(0, cut));
        sequence.reset();
        expect(sequence.take(item)).toBe(item.length);
      }
    }
  });

  it.each([
    ['a string of an indefinite length', '5f'],
    ['a map of an indefinite length', 'bf'],
    ['a break without a beginning', 'ff'],
    ['a reserved head', '1c'],
    ['a string of 2^64 - 1 bytes', '5bffffffffffffffff'],
    ['an array of more items than an item has bytes', '9a7fffffff'],
    ['arrays in arrays in arrays', '81'.repeat(65)],
  ])('throws CborError for %s', (_, bytes) => {
    expect(() => new CborSequence(ITEM_BYTES_MAX).take(hex(bytes))).toThrow(CborError);
  });

  it('takes any bytes without another error, and never returns an end outside them', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), (pieces) => {
        const sequence = new CborSequence(ITEM_BYTES_MAX);
        try {
          for (const piece of pieces) {
            const end = sequence.take(piece);
            expect(end >= 0 && end <= piece.length && sequence.lastStart <= end).toBe(true);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(CborError);
        }
      }),
    );
  });
});

describe('cborItemEnd', () => {
  it('agrees with CborSequence on every item', () => {
    for (const item of ITEMS) {
      expect(cborItemEnd(Buffer.concat([hex('00'), item, hex('00')]), 1)).toBe(item.length + 1);
    }
  });

  it('throws CborError for an item that is cut off', () => {
    for (const item of ITEMS) {
      for (let cut = 0; cut < item.length; cut++) {
        expect(() => cborItemEnd(item.subarray(0, cut), 0)).toThrow(CborError);
      }
    }
  });
});

describe('cborValueAt', () => {
  // {"a": 1, "b": [{"c": "no"}], 'd': 55799({'c': -500, "t": "x"})}
  const item = hex('d9d9f7 a3 6161 01 6162 81 a1 6163 626e6f 4164 d9d9f7 a2 4163 3901f3 6174 6178');

  it('finds strings and integers past other values and through tags', () => {
    expect(cborValueAt(item, ['a'])).toBe(1);
    expect(cborValueAt(item, ['d', 'c'])).toBe(-500);
    expect(cborValueAt(item, ['d', 't'])).toBe('x');
  });

  it('returns null for any other value, and undefined where there is none', () => {
    expect(cborValueAt(item, ['b'])).toBeNull();
    expect(cborValueAt(item, ['d'])).toBeNull();
    expect(cborValueAt(item, ['c'])).toBeUndefined();
    expect(cborValueAt(item, ['a', 'c'])).toBeUndefined();
  });

  it.each(['', 'bf', 'a1', 'bbffffffffffffffff', 'a1 5bffffffffffffffff', 'a1 6161 1b00'])(
    'throws CborError for %j',
    (bytes) => {
      expect(() => cborValueAt(hex(bytes), ['a'])).toThrow(CborError);
    },
  );
});
