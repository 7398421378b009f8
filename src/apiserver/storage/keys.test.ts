import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  historyAfter,
  historyKey,
  historyRevision,
  historyStart,
  historyStem,
} from './engines/embedded/history-key.js';
import { hasPrefix, prefixEnd } from './keys.js';

/** Few different bytes, the awkward ones among them, so that keys often are parts of each other. */
const key = fc
  .array(fc.constantFrom(0, 1, 2, 0x61, 0xfe, 0xff), { minLength: 1, maxLength: 6 })
  .map((bytes) => Buffer.from(bytes));
const revision = fc.integer({ min: 1, max: 2 ** 48 });

describe('the end of a prefix', () => {
  it('separates the keys with the prefix from later ones (property)', () => {
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        const end = prefixEnd(prefix);
        const inRange = other.compare(prefix) >= 0 && (end === undefined || other.compare(end) < 0);
        expect(inRange).toBe(hasPrefix(other, prefix));
      }),
    );
  });
});

describe('history keys', () => {
  it('are ordered by key, then by revision (property)', () => {
    fc.assert(
      fc.property(key, revision, key, revision, (keyA, revisionA, keyB, revisionB) => {
        const expected = keyA.compare(keyB) || Math.sign(revisionA - revisionB);
        expect(Math.sign(historyKey(keyA, revisionA).compare(historyKey(keyB, revisionB)))).toBe(expected);
      }),
    );
  });

  it('can be decoded, and keep prefixes together (property)', () => {
    fc.assert(
      fc.property(key, revision, key, (whole, at, prefix) => {
        const entry = historyKey(whole, at);
        expect(historyRevision(entry)).toBe(at);
        expect(historyStem(entry)).toEqual(historyStart(whole));
        expect(hasPrefix(entry, historyStart(prefix))).toBe(hasPrefix(whole, prefix));
        expect(Math.sign(entry.compare(historyAfter(prefix)))).toBe(whole.compare(prefix) > 0 ? 1 : -1);
      }),
    );
  });
});
