import {
  ConnectionError,
  ErrorCode,
  FRAME_HEADER_BYTES,
  FRAME_PAYLOAD_BYTES_MAX,
  FrameType,
  readUint31,
} from './protocol.js';

/** Receives each complete frame; its payload is `bytes` from `start` to `end` and may be kept. */
export interface FrameReceiver {
  frame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void;
}

/**
 * Splits the received bytes into frames. A frame that is complete in one read is passed without a
 * copy; a frame spread over several reads is assembled in a buffer of its own.
 */
export class FrameReader {
  readonly #receiver: FrameReceiver;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer | undefined;
  #payloadBytes = 0;
  #stopped = false;

  constructor(receiver: FrameReceiver) {
    this.#receiver = receiver;
  }

  /** True inside HEADERS or CONTINUATION, and in a frame header whose type is not read yet. */
  get insideHeaders(): boolean {
    if (this.#headerBytes === 0) return false;
    if (!this.#payload) return true;
    const type = this.#header[3];
    return type === FrameType.headers || type === FrameType.continuation;
  }

  stop(): void {
    this.#stopped = true;
    this.#payload = undefined;
  }

  push(chunk: Buffer, from = 0): void {
    let offset = this.#headerBytes > 0 ? this.#continueFrame(chunk, from) : from;
    const end = chunk.length;
    while (!this.#stopped && end - offset >= FRAME_HEADER_BYTES) {
      const length = (chunk[offset]! << 16) | (chunk[offset + 1]! << 8) | chunk[offset + 2]!;
      checkLength(length);
      const start = offset + FRAME_HEADER_BYTES;
      if (end - start < length) break;
      const type = chunk[offset + 3]!;
      const flags = chunk[offset + 4]!;
      this.#receiver.frame(type, flags, readUint31(chunk, offset + 5), chunk, start, start + length);
      offset = start + length;
    }
    if (!this.#stopped && offset < end) this.#continueFrame(chunk, offset);
  }

  /**
   * Adds bytes of `chunk` to the incomplete frame; returns the offset of the first byte after it.
   */
  #continueFrame(chunk: Buffer, from: number): number {
    let offset = from;
    if (!this.#payload) {
      const copied = chunk.copy(this.#header, this.#headerBytes, offset);
      this.#headerBytes += copied;
      offset += copied;
      if (this.#headerBytes < FRAME_HEADER_BYTES) return offset;
      const length = this.#header.readUIntBE(0, 3);
      checkLength(length);
      this.#payload = Buffer.allocUnsafe(length);
      this.#payloadBytes = 0;
    }
    const payload = this.#payload;
    const copied = chunk.copy(payload, this.#payloadBytes, offset);
    this.#payloadBytes += copied;
    offset += copied;
    if (this.#payloadBytes < payload.length) return offset;
    this.#headerBytes = 0;
    this.#payload = undefined;
    const header = this.#header;
    this.#receiver.frame(header[3]!, header[4]!, readUint31(header, 5), payload, 0, payload.length);
    return offset;
  }
}

function checkLength(length: number): void {
  if (length > FRAME_PAYLOAD_BYTES_MAX)
    throw new ConnectionError(ErrorCode.frameSizeError, 'frame is too large: more than 16384 bytes');
}
