import { WireReader, WireWriter } from '../../../../base/protobuf-wire.js';
import type { KeyValue } from '../../backend.js';
import { prefixEnd } from '../../keys.js';

/** The messages of etcd's v3 API that this client uses; the numbers are etcd's field numbers. */

export const METHODS = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  leaseGrant: '/etcdserverpb.Lease/LeaseGrant',
  leaseRevoke: '/etcdserverpb.Lease/LeaseRevoke',
  authenticate: '/etcdserverpb.Auth/Authenticate',
} as const;

/** Writes fields as proto3 does: without those of the zero value. Messages are written even if empty. */
class EtcdWriter extends WireWriter {
  override number(field: number, value: number | bigint): this {
    return value === 0 || value === 0n ? this : super.number(field, value);
  }

  override bytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : super.bytes(field, value);
  }

  override text(field: number, value: string): this {
    return value === '' ? this : super.text(field, value);
  }
}

export interface KeyRange {
  readonly key: Uint8Array;
  /** Exclusive; absent for a single key. */
  readonly rangeEnd?: Uint8Array;
}

/** The value of `key` and of `rangeEnd` that etcd takes for a range without that bound. */
const NO_BOUND = Buffer.of(0);

export function rangeOfPrefix(prefix: Buffer): { readonly key: Buffer; readonly rangeEnd: Buffer } {
  return { key: prefix.length === 0 ? NO_BOUND : prefix, rangeEnd: prefixEnd(prefix) ?? NO_BOUND };
}

export interface RangeRequest extends KeyRange {
  readonly limit?: number;
  readonly revision?: number | undefined;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  readonly revision: number;
  readonly kvs: KeyValue[];
  /** Number of keys in the whole range, independent of `limit`. */
  readonly count: number;
}

function writeRange(writer: EtcdWriter, request: RangeRequest): EtcdWriter {
  writer.bytes(1, request.key);
  if (request.rangeEnd !== undefined) writer.bytes(2, request.rangeEnd);
  return writer
    .number(3, request.limit ?? 0)
    .number(4, request.revision ?? 0)
    .flag(8, request.keysOnly === true)
    .flag(9, request.countOnly === true);
}

export function encodeRange(request: RangeRequest): Buffer {
  return writeRange(new EtcdWriter(), request).finish();
}

export function decodeRange(bytes: Buffer): RangeResponse {
  return readRange(new WireReader(bytes));
}

function readRange(reader: WireReader): RangeResponse {
  let revision = 0;
  let count = 0;
  const kvs: KeyValue[] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readHeader);
    else if (reader.field === 2) kvs.push(reader.message(readKeyValue));
    else if (reader.field === 4) count = reader.number();
  }
  return { revision, kvs, count };
}

/** Returns the store's revision, the only field of a header that is needed. */
function readHeader(reader: WireReader): number {
  return lastOf(reader, 3, () => reader.number()) ?? 0;
}

/** Reads a message of which one field is needed. */
function lastOf<T>(reader: WireReader, field: number, read: () => T): T | undefined {
  let value: T | undefined;
  while (reader.next()) if (reader.field === field) value = read();
  return value;
}

const NOTHING: Buffer = Buffer.alloc(0);
type Writable<T> = { -readonly [name in keyof T]: T[name] };

function readKeyValue(reader: WireReader): KeyValue {
  const kv: Writable<KeyValue> = { key: NOTHING, value: NOTHING, createRevision: 0, modRevision: 0 };
  while (reader.next()) {
    if (reader.field === 1) kv.key = reader.bytes();
    else if (reader.field === 2) kv.createRevision = reader.number();
    else if (reader.field === 3) kv.modRevision = reader.number();
    else if (reader.field === 5) kv.value = reader.bytes();
  }
  return kv;
}

export type TxnOperation =
  | { readonly type: 'range'; readonly key: Uint8Array; readonly keysOnly?: boolean }
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array; readonly lease: bigint }
  | { readonly type: 'delete'; readonly key: Uint8Array };

export interface TxnRequest {
  /** The transaction succeeds if the key was last written at this revision; 0: if it does not exist. */
  readonly ifModRevision?: { readonly key: Uint8Array; readonly revision: number };
  readonly success: readonly TxnOperation[];
  readonly failure: readonly TxnOperation[];
}

export interface TxnResponse {
  readonly revision: number;
  readonly succeeded: boolean;
  /** The keys that each operation read or deleted, in their order; none for a put. */
  readonly kvs: readonly (readonly KeyValue[])[];
}

const COMPARE_EQUAL = 0;
const COMPARE_MOD_REVISION = 2;

export function encodeTxn(request: TxnRequest): Buffer {
  const writer = new EtcdWriter(expectedBytes(request));
  if (request.ifModRevision !== undefined) {
    const { key, revision } = request.ifModRevision;
    writer.message(1, () =>
      writer.number(1, COMPARE_EQUAL).number(2, COMPARE_MOD_REVISION).bytes(3, key).number(6, revision),
    );
  }
  for (const operation of request.success) writer.message(2, () => writeOperation(writer, operation));
  for (const operation of request.failure) writer.message(3, () => writeOperation(writer, operation));
  return writer.finish();
}

/** Enough for usual transactions, so that the buffer does not grow and copy the values again. */
function expectedBytes({ success }: TxnRequest): number {
  let bytes = 512;
  for (const operation of success) if (operation.type === 'put') bytes += operation.value.length;
  return bytes;
}

function writeOperation(writer: EtcdWriter, operation: TxnOperation): void {
  const { key } = operation;
  if (operation.type === 'range') writer.message(1, () => writeRange(writer, operation));
  else if (operation.type === 'delete') writer.message(3, () => writer.bytes(1, key).flag(3, true));
  else writer.message(2, () => writer.bytes(1, key).bytes(2, operation.value).number(3, operation.lease));
}

export function decodeTxn(bytes: Buffer): TxnResponse {
  const reader = new WireReader(bytes);
  let revision = 0;
  let succeeded = false;
  const kvs: KeyValue[][] = [];
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readHeader);
    else if (reader.field === 2) succeeded = reader.flag();
    else if (reader.field === 3) kvs.push(reader.message(readOperationResponse));
  }
  return { revision, succeeded, kvs };
}

function readOperationResponse(reader: WireReader): KeyValue[] {
  let kvs: KeyValue[] = [];
  while (reader.next()) {
    if (reader.field === 1) kvs = reader.message(readRange).kvs;
    else if (reader.field === 3) kvs = reader.message(readDeleted);
  }
  return kvs;
}

function readDeleted(reader: WireReader): KeyValue[] {
  const kvs: KeyValue[] = [];
  while (reader.next()) if (reader.field === 3) kvs.push(reader.message(readKeyValue));
  return kvs;
}

export function encodeCompact(revision: number): Buffer {
  return new EtcdWriter().number(1, revision).finish();
}

export function encodeWatchCreate({ key, rangeEnd = NOTHING }: KeyRange, startRevision: number): Buffer {
  const fill = (writer: EtcdWriter): EtcdWriter =>
    writer
      .bytes(1, key)
      .bytes(2, rangeEnd)
      .number(3, startRevision)
      .flag(4, true) // progress_notify
      .flag(6, true) // prev_kv
      .flag(8, true); // fragment
  return new EtcdWriter().message(1, fill).finish();
}

export function encodeWatchProgress(): Buffer {
  return new EtcdWriter().message(3, () => undefined).finish();
}

export interface EtcdEvent {
  readonly deleted: boolean;
  readonly kv: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface WatchResponse {
  readonly revision: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of the same response follows. */
  readonly fragment: boolean;
  readonly events: EtcdEvent[];
}

export function decodeWatch(bytes: Buffer): WatchResponse {
  const reader = new WireReader(bytes);
  const response = {
    revision: 0,
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events: [] as EtcdEvent[],
  };
  while (reader.next()) {
    if (reader.field === 1) response.revision = reader.message(readHeader);
    else if (reader.field === 3) response.created = reader.flag();
    else if (reader.field === 4) response.canceled = reader.flag();
    else if (reader.field === 5) response.compactRevision = reader.number();
    else if (reader.field === 6) response.cancelReason = reader.text();
    else if (reader.field === 7) response.fragment = reader.flag();
    else if (reader.field === 11) response.events.push(reader.message(readEvent));
  }
  return response;
}

const EVENT_DELETE = 1;

function readEvent(reader: WireReader): EtcdEvent {
  let deleted = false;
  let kv: KeyValue = { key: NOTHING, value: NOTHING, createRevision: 0, modRevision: 0 };
  let previous: KeyValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) deleted = reader.number() === EVENT_DELETE;
    else if (reader.field === 2) kv = reader.message(readKeyValue);
    else if (reader.field === 3) previous = reader.message(readKeyValue);
  }
  return { deleted, kv, previous };
}

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  return new EtcdWriter().number(1, ttlSeconds).finish();
}

export function decodeLeaseGrant(bytes: Buffer): bigint {
  const reader = new WireReader(bytes);
  return lastOf(reader, 2, () => reader.bigint()) ?? 0n;
}

export function encodeLeaseRevoke(id: bigint): Buffer {
  return new EtcdWriter().number(1, id).finish();
}

export function encodeAuthenticate(credentials: { readonly name: string; readonly password: string }): Buffer {
  return new EtcdWriter().text(1, credentials.name).text(2, credentials.password).finish();
}

export function decodeAuthenticate(bytes: Buffer): string {
  const reader = new WireReader(bytes);
  return lastOf(reader, 2, () => reader.text()) ?? '';
}
