import { Flag, FRAME_HEADER_BYTES, FrameType, writeFrameHeader, writeUint32 } from './protocol.js';

/** Large enough for the responses of one turn of the event loop on most connections. */
const SLAB_BYTES = 64 * 1024;
/** A slab with less free space is not reused. */
const SLAB_REST_BYTES_MIN = 4 * 1024;
/** Bound on the partly used slabs kept for reuse. */
const SLABS_KEPT_MAX = 16;

interface Slab {
  readonly bytes: Buffer;
  used: number;
}

/** Free list. A connection has a slab from its first frame in a turn until that turn's flush. */
const slabs: Slab[] = [];

function takeSlab(bytesMin: number): Slab {
  const kept = slabs.pop();
  if (kept && SLAB_BYTES - kept.used >= bytesMin) return kept;
  if (kept && slabs.length < SLABS_KEPT_MAX) slabs.unshift(kept);
  return { bytes: Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytesMin)), used: 0 };
}

function giveBack(slab: Slab): void {
  const { bytes, used } = slab;
  if (bytes.length === SLAB_BYTES && SLAB_BYTES - used >= SLAB_REST_BYTES_MIN && slabs.length < SLABS_KEPT_MAX) {
    slabs.push(slab);
  }
}

/**
 * Write buffer: frames of one flush, copied into one slab. TLS would join separate buffers before
 * it encrypts them, and a write for each frame costs more than the copy.
 */
export class WriteBuffer {
  #slab: Slab | undefined;
  #start = 0;
  #sealed: Uint8Array[] = [];
  #sealedBytes = 0;

  get bytes(): number {
    return this.#slab ? this.#sealedBytes + this.#slab.used - this.#start : this.#sealedBytes;
  }

  /** Reserves contiguous bytes in `buffer` at `offset`; `advance` follows the caller's write. */
  room(bytes: number): void {
    if (this.#slab && this.#slab.bytes.length - this.#slab.used >= bytes) return;
    this.#seal();
    this.#slab = takeSlab(bytes);
    this.#start = this.#slab.used;
  }

  get buffer(): Buffer {
    return this.#slab!.bytes;
  }

  get offset(): number {
    return this.#slab!.used;
  }

  advance(to: number): void {
    this.#slab!.used = to;
  }

  append(bytes: Buffer): void {
    this.room(bytes.length);
    this.advance(this.offset + bytes.copy(this.buffer, this.offset));
  }

  /** Appends bytes without a copy. */
  refer(bytes: Uint8Array): void {
    this.#sealPart();
    this.#sealed.push(bytes);
    this.#sealedBytes += bytes.byteLength;
  }

  /** Returns and removes the buffered bytes, usually as one piece. */
  take(): readonly Uint8Array[] {
    this.#seal();
    const taken = this.#sealed;
    this.#sealed = [];
    this.#sealedBytes = 0;
    return taken;
  }

  settings(payload: Buffer): void {
    this.#frame(FrameType.settings, 0, 0, payload.length);
    this.append(payload);
  }

  settingsAck(): void {
    this.#frame(FrameType.settings, Flag.ack, 0, 0);
  }

  ping(flags: number, payload: Buffer): void {
    this.#frame(FrameType.ping, flags, 0, payload.length);
    this.append(payload);
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#frame(FrameType.windowUpdate, 0, streamId, 4);
    this.#uint32(increment);
  }

  rstStream(streamId: number, code: number): void {
    this.#frame(FrameType.rstStream, 0, streamId, 4);
    this.#uint32(code);
  }

  goaway(lastStreamId: number, code: number): void {
    this.#frame(FrameType.goaway, 0, 0, 8);
    this.#uint32(lastStreamId);
    this.#uint32(code);
  }

  /** Writes a frame header; the caller appends the payload. */
  #frame(type: number, flags: number, streamId: number, length: number): void {
    this.room(FRAME_HEADER_BYTES + length);
    this.advance(writeFrameHeader(this.buffer, this.offset, { length, type, flags, streamId }));
  }

  #uint32(value: number): void {
    this.advance(writeUint32(this.buffer, this.offset, value));
  }

  #seal(): void {
    const slab = this.#slab;
    if (!slab) return;
    this.#sealPart();
    giveBack(slab);
    this.#slab = undefined;
  }

  #sealPart(): void {
    const slab = this.#slab;
    if (!slab || slab.used === this.#start) return;
    this.#sealed.push(slab.bytes.subarray(this.#start, slab.used));
    this.#sealedBytes += slab.used - this.#start;
    this.#start = slab.used;
  }
}
