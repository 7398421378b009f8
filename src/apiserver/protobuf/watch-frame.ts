import { WireWriter } from '../../base/protobuf-wire.js';
import type { JsonObject } from '../../kube/json.js';
import { encodeProtobuf } from './encode-protobuf.js';

export const PROTOBUF_WATCH_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf;stream=watch';

const LENGTH_BYTES = 4;
/** Bound on the fields around the object. */
const EVENT_BYTES = 64;

/**
 * Encodes one watch event: its length, then the event without an envelope, with the object in one.
 * Returns undefined for an object whose kind has no message.
 */
export function encodeWatchFrame(type: string, object: JsonObject): Buffer | undefined {
  const raw = encodeProtobuf(object);
  if (raw === undefined) return undefined;
  const message = new WireWriter(raw.length + EVENT_BYTES)
    .text(1, type)
    .message(2, (extension) => extension.bytes(1, raw))
    .finish();
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}
