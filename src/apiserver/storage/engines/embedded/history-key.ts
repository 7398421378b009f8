import { readRevision, revisionKey } from './records.js';

/**
 * Keys of the history table: a user's key, then a revision, ordered by both. A zero byte inside the user's key becomes
 * 00 FF and the end of it 00 01, so that "a" with all its revisions comes before "a\0", and no key is a part of another.
 */
const ESCAPED_ZERO = 0xff;
const END = Buffer.of(0x00, 0x01);
const AFTER_END = Buffer.of(0x00, 0x02);
const REVISION_BYTES = 8;

export function historyKey(key: Buffer, revision: number): Buffer {
  return Buffer.concat([escapeZeros(key), END, revisionKey(revision)]);
}

/** Where the histories of keys with this prefix begin. */
export function historyStart(prefix: Buffer): Buffer {
  return escapeZeros(prefix);
}

/** The first place after the whole history of this key. */
export function historyAfter(key: Buffer): Buffer {
  return Buffer.concat([escapeZeros(key), AFTER_END]);
}

/** The escaped key: equal for equal keys, and enough to tell one key's entries from the next one's. */
export function historyStem(entry: Buffer): Buffer {
  return entry.subarray(0, entry.length - REVISION_BYTES - END.length);
}

export function historyRevision(entry: Buffer): number {
  return readRevision(entry.subarray(entry.length - REVISION_BYTES));
}

function escapeZeros(key: Buffer): Buffer {
  if (!key.includes(0)) return key;
  const bytes: number[] = [];
  for (const byte of key) {
    bytes.push(byte);
    if (byte === 0) bytes.push(ESCAPED_ZERO);
  }
  return Buffer.from(bytes);
}
