import { encodedBytesMax, encodeResponse, encodeTrailers } from './hpack/header-encoder.js';
import { Flag, FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, FrameType, writeFrameHeader } from './protocol.js';
import type { WriteBuffer } from './write-buffer.js';

export interface HeadFrame {
  readonly streamId: number;
  /** 0 for trailers. */
  readonly status: number;
  readonly fields: readonly string[];
  readonly endStream: boolean;
  /** Starts the block with a table size update to 0 (RFC 7541, 4.2): the client has reduced it. */
  readonly tableUnused: boolean;
}

/** Dynamic table size update to 0 (RFC 7541, 6.3). */
const TABLE_SIZE_ZERO = 0x20;

/** Writes HEADERS. Throws, with nothing written, for a field that cannot be sent. */
export function writeHead(into: WriteBuffer, frame: HeadFrame): void {
  const bytesMax = encodedBytesMax(frame.status, frame.fields) + 1;
  if (bytesMax > FRAME_PAYLOAD_BYTES_MAX) {
    into.append(headFrames(frame));
    return;
  }
  into.room(FRAME_HEADER_BYTES + bytesMax);
  const { buffer, offset } = into;
  const start = offset + FRAME_HEADER_BYTES;
  const end = encode(buffer, start, frame);
  const flags = Flag.endHeaders | (frame.endStream ? Flag.endStream : 0);
  writeFrameHeader(buffer, offset, { length: end - start, type: FrameType.headers, flags, streamId: frame.streamId });
  into.advance(end);
}

/**
 * Returns HEADERS in a new buffer, followed by CONTINUATION if the block is larger than one frame.
 */
export function headFrames(frame: HeadFrame): Buffer {
  const { streamId } = frame;
  const scratch = Buffer.allocUnsafe(encodedBytesMax(frame.status, frame.fields) + 1);
  const block = scratch.subarray(0, encode(scratch, 0, frame));
  const frames: Buffer[] = [];
  let at = 0;
  do {
    const piece = block.subarray(at, at + FRAME_PAYLOAD_BYTES_MAX);
    const type = at === 0 ? FrameType.headers : FrameType.continuation;
    const first = at === 0 && frame.endStream ? Flag.endStream : 0;
    at += piece.length;
    const flags = first | (at === block.length ? Flag.endHeaders : 0);
    const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    writeFrameHeader(header, 0, { length: piece.length, type, flags, streamId });
    frames.push(header, piece);
  } while (at < block.length);
  return Buffer.concat(frames);
}

function encode(into: Buffer, offset: number, frame: HeadFrame): number {
  let at = offset;
  if (frame.tableUnused) into[at++] = TABLE_SIZE_ZERO;
  if (frame.status === 0) return encodeTrailers(into, at, frame.fields);
  return encodeResponse(into, at, frame.status, frame.fields);
}
