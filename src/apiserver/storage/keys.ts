import { KEY_BYTES_MAX, type Key, type KeyWriteOptions } from './backend.js';
import { failures, StorageError } from './storage-error.js';

/** Returns the bytes of a key, without a copy if it is bytes already. */
export function keyBytes(key: Key): Buffer {
  if (typeof key === 'string') return Buffer.from(key, 'utf8');
  return Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.byteLength);
}

/** Returns the bytes of a key that can be written. Throws StorageError for any other. */
export function storableKey(key: Key): Buffer {
  const bytes = keyBytes(key);
  if (bytes.length === 0) throw new StorageError('invalid', 'a key must not be empty');
  if (bytes.length > KEY_BYTES_MAX) throw failures.tooLarge('the key', bytes.length, KEY_BYTES_MAX);
  return bytes;
}

/** Returns the bytes of a key and a value that can be written. Throws StorageError for any others. */
export function storableEntry(
  key: Key,
  value: Uint8Array,
  { valueBytesMax, ttlSeconds }: KeyWriteOptions & { readonly valueBytesMax: number },
): { readonly key: Buffer; readonly value: Buffer } {
  const bytes = storableKey(key);
  if (value.length > valueBytesMax) throw failures.tooLarge('the value', value.length, valueBytesMax);
  if (ttlSeconds !== undefined && !(ttlSeconds > 0)) {
    throw new StorageError('invalid', `${ttlSeconds} is no time to live`);
  }
  return { key: bytes, value: keyBytes(value) };
}

/** Throws StorageError for a given revision, or limit, that is not a positive integer. */
export function checkRevision(revision: number | undefined): void {
  if (revision === undefined || (Number.isSafeInteger(revision) && revision >= 1)) return;
  throw new StorageError('invalid', `${revision} is no revision: a whole number from 1 on is one`);
}

/** Returns the first key after all keys with this prefix; undefined if the range has no end. */
export function prefixEnd(prefix: Buffer): Buffer | undefined {
  let last = prefix.length - 1;
  while (last >= 0 && prefix[last] === 0xff) last--;
  if (last < 0) return undefined;
  const end = Buffer.from(prefix.subarray(0, last + 1));
  end[last] = end[last]! + 1;
  return end;
}

/** Returns the first key after this one. */
export function nextKey(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}

export function hasPrefix(key: Buffer, prefix: Buffer): boolean {
  return key.length >= prefix.length && key.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
