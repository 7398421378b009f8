import { readRevision, revisionKey } from './records.js';

/**
 * Keys of the history table: a stored key and a revision, ordered by both. A zero byte in the key is
 * encoded as 00 FF and its end as 00 01, so that "a" with all its revisions comes before "a\0" and no
 * encoded key is a prefix of another.
 */
const ESCAPED_ZERO = 0xff;
const END = Buffer.of(0x00, 0x01);
const AFTER_END = Buffer.of(0x00, 0x02);
const REVISION_BYTES = 8;

export function historyKey(key: Buffer, revision: number): Buffer {
  return Buffer.concat([escapeZeros(key), END, revisionKey(revision)]);
}

/** Returns the start of the histories of keys with this prefix. */
export function historyStart(prefix: Buffer): Buffer {
  return escapeZeros(prefix);
}

/** Returns the first position after the whole history of a key. */
export function historyAfter(key: Buffer): Buffer {
  return Buffer.concat([escapeZeros(key), AFTER_END]);
}

/** Returns the escaped key of an entry, which is equal for equal keys. */
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
