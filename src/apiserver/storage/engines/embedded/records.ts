/** How the store's tables look in bytes. A change here needs a new number in data-dir.ts. */

const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

function writeWhole(target: Buffer, value: number, offset: number): void {
  target.writeUInt32BE(Math.floor(value / HIGH), offset);
  target.writeUInt32BE(value % HIGH, offset + 4);
}

function readWhole(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * HIGH + source.readUInt32BE(offset + 4);
}

/** Big-endian, so that the tables' byte order is the order of numbers. */
export function revisionKey(revision: number): Buffer {
  const key = Buffer.allocUnsafe(REVISION_BYTES);
  writeWhole(key, revision, 0);
  return key;
}

export function readRevision(bytes: Buffer): number {
  return readWhole(bytes, 0);
}

/** One entry of the log: what a revision did. Values live here and nowhere else. */
export interface LogRecord {
  readonly type: 'put' | 'delete';
  readonly key: Buffer;
  /** Empty for a delete. */
  readonly value: Buffer;
  readonly createRevision: number;
  /** The revision that wrote what this one replaced or deleted; 0 where there was nothing. */
  readonly previousRevision: number;
}

const LOG_PUT = 1;
const LOG_DELETE = 2;
const LOG_HEAD_BYTES = 1 + 2 * REVISION_BYTES + 2;

/**
 * Not from Node's pool: what is decoded from it may be kept for long, and would keep all that was taken from the pool
 * beside it.
 */
export function encodeLogRecord(record: LogRecord): Buffer {
  const bytes = Buffer.allocUnsafeSlow(LOG_HEAD_BYTES + record.key.length + record.value.length);
  bytes[0] = record.type === 'put' ? LOG_PUT : LOG_DELETE;
  writeWhole(bytes, record.createRevision, 1);
  writeWhole(bytes, record.previousRevision, 9);
  bytes.writeUInt16BE(record.key.length, 17);
  record.key.copy(bytes, LOG_HEAD_BYTES);
  record.value.copy(bytes, LOG_HEAD_BYTES + record.key.length);
  return bytes;
}

export function decodeLogRecord(bytes: Buffer): LogRecord {
  const valueStart = LOG_HEAD_BYTES + bytes.readUInt16BE(17);
  return {
    type: bytes[0] === LOG_PUT ? 'put' : 'delete',
    key: bytes.subarray(LOG_HEAD_BYTES, valueStart),
    value: bytes.subarray(valueStart),
    createRevision: readWhole(bytes, 1),
    previousRevision: readWhole(bytes, 9),
  };
}

/** A key that has a value: where the value is in the log, and when it is due to go (0: never). */
export interface CurrentRecord {
  readonly modRevision: number;
  readonly createRevision: number;
  readonly expiresAtMs: number;
}

export function encodeCurrentRecord(record: CurrentRecord): Buffer {
  const bytes = Buffer.allocUnsafe(3 * REVISION_BYTES);
  writeWhole(bytes, record.modRevision, 0);
  writeWhole(bytes, record.createRevision, 8);
  writeWhole(bytes, record.expiresAtMs, 16);
  return bytes;
}

export function decodeCurrentRecord(bytes: Buffer): CurrentRecord {
  return {
    modRevision: readWhole(bytes, 0),
    createRevision: readWhole(bytes, 8),
    expiresAtMs: readWhole(bytes, 16),
  };
}

/** In order of time due; the revision tells apart what is due at once. */
export function expiryKey(expiresAtMs: number, modRevision: number): Buffer {
  const key = Buffer.allocUnsafe(2 * REVISION_BYTES);
  writeWhole(key, expiresAtMs, 0);
  writeWhole(key, modRevision, 8);
  return key;
}

export function decodeExpiryKey(bytes: Buffer): { expiresAtMs: number; modRevision: number } {
  return { expiresAtMs: readWhole(bytes, 0), modRevision: readWhole(bytes, 8) };
}
