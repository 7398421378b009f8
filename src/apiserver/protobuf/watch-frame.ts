import type { JsonObject } from '../../kube/json.js';
import { encodeProtobuf } from './encode-protobuf.js';
import { WireWriter } from './wire-writer.js';

export const PROTOBUF_WATCH_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf;stream=watch';

const LENGTH_BYTES = 4;

/**
 * One event of a watch: its length, then the event without an envelope, which holds the object in one.
 * Undefined where the kind of the object has no message.
 */
export function encodeWatchFrame(type: string, object: JsonObject): Buffer | undefined {
  const raw = encodeProtobuf(object);
  if (raw === undefined) return undefined;
  const extension = new WireWriter();
  extension.delimited(1, raw);
  const event = new WireWriter();
  event.string(1, type);
  event.delimited(2, extension.finish());
  const message = event.finish();
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}
