import { WireWriter } from '../../base/protobuf-wire.js';
import { closeEnvelope } from '../../kube/protobuf-envelope.js';
import { CBOR_EVENTS } from './watch-cbor-events.js';
import type { EventFormat } from './watch-events.js';
import { JSON_EVENTS } from './watch-json-events.js';
import { PROTOBUF_EVENTS } from './watch-protobuf-events.js';

export interface SentEvent {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly metadata?: {
      readonly name?: string;
      readonly resourceVersion?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly spec?: unknown;
  };
}

/** One of the encodings in which kube-apiserver sends a watch. */
export interface WatchEncoding {
  readonly name: string;
  readonly contentType: string;
  readonly format: EventFormat;
  encode(event: SentEvent): Buffer;
}

export const JSON_WATCH: WatchEncoding = {
  name: 'JSON',
  contentType: 'application/json',
  format: JSON_EVENTS,
  encode: (event) => Buffer.from(`${JSON.stringify(event)}\n`),
};

export const PROTOBUF_WATCH: WatchEncoding = {
  name: 'protobuf',
  contentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  format: PROTOBUF_EVENTS,
  encode: ({ type, object }) => protobufFrame(type, enveloped(object)),
};

export const CBOR_WATCH: WatchEncoding = {
  name: 'CBOR',
  contentType: 'application/cbor-seq',
  format: CBOR_EVENTS,
  // Both the event and the object in it begin with the tag of a self-described item.
  encode: ({ type, object }) =>
    Buffer.concat([TAG, cborHead(5, 2), cbor('type'), cbor(type), cbor('object'), TAG, cbor(object)]),
};

export const WATCH_ENCODINGS: readonly WatchEncoding[] = [JSON_WATCH, PROTOBUF_WATCH, CBOR_WATCH];

/** An event whose object is whatever bytes are given. */
export function protobufFrame(type: string, object: Uint8Array): Buffer {
  const message = new WireWriter()
    .text(1, type)
    .message(2, (extension) => extension.bytes(1, object))
    .finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

function enveloped({ kind = 'PodGroup', metadata = {}, spec }: SentEvent['object']): Buffer {
  const raw = new WireWriter()
    .message(1, (meta) => {
      meta.text(1, metadata.name ?? '').text(6, metadata.resourceVersion ?? '');
      for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
        meta.message(12, (entry) => entry.text(1, key).text(2, value));
      }
    })
    .text(2, JSON.stringify(spec ?? ''))
    .finish();
  return closeEnvelope({ apiVersion: 'scheduling.io/v1', kind, raw });
}

const TAG = Buffer.from([0xd9, 0xd9, 0xf7]);

/** A value as JSON has it. Strings become byte strings, as in Kubernetes. */
export function cbor(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.concat([cborHead(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number' && Number.isInteger(value))
    return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'number') {
    const double = Buffer.from([0xfb, 0, 0, 0, 0, 0, 0, 0, 0]);
    double.writeDoubleBE(value, 1);
    return double;
  }
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)]);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return Buffer.concat([
      cborHead(5, entries.length),
      ...entries.flatMap(([key, member]) => [cbor(key), cbor(member)]),
    ]);
  }
  return Buffer.from([value === true ? 0xf5 : value === false ? 0xf4 : 0xf6]);
}

export function cborHead(major: number, argument: number): Buffer {
  if (argument < 24) return Buffer.from([(major << 5) | argument]);
  if (argument < 0x100) return Buffer.from([(major << 5) | 24, argument]);
  const head = Buffer.alloc(argument < 0x1_0000 ? 3 : argument <= 0xffff_ffff ? 5 : 9);
  head[0] = (major << 5) | (head.length === 3 ? 25 : head.length === 5 ? 26 : 27);
  if (head.length === 9) head.writeBigUInt64BE(BigInt(argument), 1);
  else head.writeUIntBE(argument, 1, head.length - 1);
  return head;
}
