import { ProtobufError, WireReader } from '../../base/protobuf-wire.js';
import { openEnvelope } from '../../kube/protobuf-envelope.js';
import { EVENT_BYTES_MAX, type EventFormat, type EventScanner, type SkimmedEvent, UNFRAMED } from './watch-events.js';

/**
 * `application/vnd.kubernetes.protobuf;stream=watch`: each event is a frame of a length in four bytes, the most significant
 * first, and a WatchEvent, whose object is in an envelope.
 */
export const PROTOBUF_EVENTS: EventFormat = {
  createScanner: () => new FrameScanner(),
  eventEnd: (events, start) => start + LENGTH_BYTES + events.readUInt32BE(start),
  typeOf: (frame) => readEvent(frame)?.type,
  skim,
};

const LENGTH_BYTES = 4;

class FrameScanner implements EventScanner {
  lastStart = 0;
  #length = 0;
  #lengthBytesLeft = LENGTH_BYTES;
  /** Of the WatchEvent, once its length is complete. */
  #bytesLeft = 0;

  take(piece: Uint8Array): number {
    let end = 0;
    this.lastStart = 0;
    for (let at = 0; at < piece.length; ) {
      if (this.#lengthBytesLeft > 0) {
        this.#length = this.#length * 0x100 + piece[at++]!;
        if (--this.#lengthBytesLeft > 0) continue;
        if (this.#length > EVENT_BYTES_MAX) return UNFRAMED;
        this.#bytesLeft = this.#length;
      }
      const taken = Math.min(this.#bytesLeft, piece.length - at);
      at += taken;
      this.#bytesLeft -= taken;
      if (this.#bytesLeft > 0) break;
      this.lastStart = end;
      end = at;
      this.reset();
    }
    return end;
  }

  reset(): void {
    this.#length = 0;
    this.#lengthBytesLeft = LENGTH_BYTES;
    this.#bytesLeft = 0;
  }
}

interface WatchEvent {
  readonly type: string;
  /** In its envelope. */
  readonly object: Buffer;
}

function skim(frame: Buffer): SkimmedEvent {
  const event = readEvent(frame);
  return event ? { type: event.type, resourceVersion: resourceVersionOf(event.object) } : 'malformed';
}

/** Reads WatchEvent: the type in field 1, and in field 2 a RawExtension, which has the object in field 1. */
function readEvent(frame: Buffer): WatchEvent | undefined {
  return ifWellFormed(() => {
    let type: string | undefined;
    let object: Buffer | undefined;
    const event = new WireReader(frame.subarray(LENGTH_BYTES));
    while (event.next()) {
      if (event.field === 1) type = event.text();
      else if (event.field === 2) object = event.message((extension) => firstBytes(extension, 1));
    }
    return type === undefined || object === undefined ? undefined : { type, object };
  });
}

/**
 * Reads metadata.resourceVersion. Every built-in kind has an ObjectMeta in field 1; an aggregated API server may number its
 * fields otherwise, so only a decimal number is believed.
 */
function resourceVersionOf(object: Buffer): string | undefined {
  return ifWellFormed(() => {
    const metadata = firstBytes(new WireReader(openEnvelope(object).raw), 1);
    const version = metadata && firstBytes(new WireReader(metadata), 6)?.toString('latin1');
    return version !== undefined && /^\d{1,20}$/.test(version) ? version : undefined;
  });
}

/** Reads no further than the field, which servers write once. */
function firstBytes(reader: WireReader, field: number): Buffer | undefined {
  while (reader.next()) if (reader.field === field) return reader.bytes();
  return undefined;
}

function ifWellFormed<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}
