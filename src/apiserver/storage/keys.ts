import { KEY_BYTES_MAX, type Key } from './backend.js';
import { failures, StorageError } from './storage-error.js';

/** The key's bytes, not copied where it is bytes already. */
export function keyBytes(key: Key): Buffer {
  if (typeof key === 'string') return Buffer.from(key, 'utf8');
  return Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.byteLength);
}

/** A key that can be written. */
export function storableKey(key: Key): Buffer {
  const bytes = keyBytes(key);
  if (bytes.length === 0) throw new StorageError('invalid', 'a key must not be empty');
  if (bytes.length > KEY_BYTES_MAX) throw failures.tooLarge('the key', bytes.length, KEY_BYTES_MAX);
  return bytes;
}

export function checkRevision(revision: number, least: number): void {
  if (!Number.isSafeInteger(revision) || revision < least) {
    throw new StorageError('invalid', `${revision} is no revision: a whole number from ${least} on is one`);
  }
}

/** The first key after all keys with this prefix; undefined where every key that is not smaller has it. */
export function prefixEnd(prefix: Buffer): Buffer | undefined {
  let last = prefix.length - 1;
  while (last >= 0 && prefix[last] === 0xff) last--;
  if (last < 0) return undefined;
  const end = Buffer.from(prefix.subarray(0, last + 1));
  end[last] = end[last]! + 1;
  return end;
}

/** The first key after this one. */
export function nextKey(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}

export function hasPrefix(key: Buffer, prefix: Buffer): boolean {
  return key.length >= prefix.length && key.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
