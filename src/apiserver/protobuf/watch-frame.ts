import { WireWriter } from '../../base/protobuf-wire.js';
import type { JsonObject } from '../../kube/json.js';
import { encodeProtobuf } from './encode-protobuf.js';

export const PROTOBUF_WATCH_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf;stream=watch';

const LENGTH_BYTES = 4;
/** More than the fields around the object take. */
const EVENT_BYTES = 64;

/**
 * One event of a watch: its length, then the event without an envelope, which holds the object in one.
 * Undefined where the kind of the object has no message.
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
