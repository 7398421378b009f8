/** The binary format of the store's tables. A change needs a new version in data-dir.ts. */

const REVISION_BYTES = 8;
const HIGH = 2 ** 32;

function writeWhole(target: Buffer, value: number, offset: number): void {
  target.writeUInt32BE(Math.floor(value / HIGH), offset);
  target.writeUInt32BE(value % HIGH, offset + 4);
}

function readWhole(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * HIGH + source.readUInt32BE(offset + 4);
}

/** Big-endian, so that the byte order of the tables is the order of revisions. */
export function revisionKey(revision: number): Buffer {
  const key = Buffer.allocUnsafe(REVISION_BYTES);
  writeWhole(key, revision, 0);
  return key;
}

export function readRevision(bytes: Buffer): number {
  return readWhole(bytes, 0);
}

/** One entry of the log: the write of a revision. Values are stored here only. */
export interface LogRecord {
  readonly type: 'put' | 'delete';
  readonly key: Buffer;
  /** Empty for a delete. */
  readonly value: Buffer;
  readonly createRevision: number;
  /** The revision of the replaced or deleted value; 0 if there was none. */
  readonly previousRevision: number;
}

const LOG_PUT = 1;
const LOG_DELETE = 2;
const LOG_HEAD_BYTES = 1 + 2 * REVISION_BYTES + 2;

/** Not from Node's buffer pool: decoded records are kept for long and would keep whole slabs of the pool. */
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

/** A key with a value: the revision of its log entry, and its expiry (0: never). */
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

/** Ordered by expiry, then by revision. */
export function expiryKey(expiresAtMs: number, modRevision: number): Buffer {
  const key = Buffer.allocUnsafe(2 * REVISION_BYTES);
  writeWhole(key, expiresAtMs, 0);
  writeWhole(key, modRevision, 8);
  return key;
}

export function decodeExpiryKey(bytes: Buffer): { expiresAtMs: number; modRevision: number } {
  return { expiresAtMs: readWhole(bytes, 0), modRevision: readWhole(bytes, 8) };
}
