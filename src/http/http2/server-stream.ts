import type { Readable } from 'node:stream';
import { STREAM_UNSENT_BYTES_MAX, STREAM_UNSENT_PIECES_MAX, STREAM_WINDOW_BYTES } from '../../http2/limits.js';
import type { IncomingBody } from './incoming-body.js';
import { ErrorCode } from './protocol.js';
import type { RequestHead } from './request-head.js';
import { headFrames } from './response-head.js';

/** Whoever answers a request hears through this what becomes of its answer. */
export interface StreamReceiver {
  /** `write` returned false, and the client has taken enough since. */
  drained(): void;
  /** Once: all of the answer is handed to the connection, or the client has left, or the stream was reset. */
  closed(): void;
}

/** What a stream asks of the set it belongs to. */
export interface StreamOwner {
  reset(stream: ServerStream, code: number): void;
  /** The same for a client that makes no progress: without other streams its connection ends too. */
  resetStalled(stream: ServerStream): void;
}

/** What puts a stream's answer on the connection. */
export interface StreamSender {
  head(stream: ServerStream, status: number, fields: readonly string[], endStream: boolean): void;
  /** The stream has more to send than before, or may send more. */
  wake(stream: ServerStream): void;
}

/** One request and its answer. The first part is for whoever answers; the rest is between the classes of this folder. */
export class ServerStream {
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: string[];
  receiver: StreamReceiver | undefined;

  readonly id: number;
  readonly expectedBytes: number;
  incoming: IncomingBody | null = null;
  /** What the client may still send, and what it may send again but was not told so yet. */
  receiveWindow = STREAM_WINDOW_BYTES;
  unreturnedBytes = 0;
  receivedBytes = 0;
  remoteEnded: boolean;

  sendWindow: number;
  unsentBytes = 0;
  open = true;
  /** Every byte of the answer is known. */
  ended = false;
  /** Frames that wait for the socket: the head of an answer, its trailers. */
  headFrames: Buffer | undefined;
  endsWithHead = false;
  trailerFrames: Buffer | undefined;
  heldBack = false;
  /** It stands in line for the connection. */
  queued = false;

  private readonly owner: StreamOwner;
  private readonly sender: StreamSender;
  private headGiven = false;
  private bodiless = false;
  private chunk: Uint8Array | undefined;
  private chunkOffset = 0;
  private laterChunks: Uint8Array[] | undefined;

  constructor(
    id: number,
    head: RequestHead,
    how: { owner: StreamOwner; sender: StreamSender; sendWindow: number; remoteEnded: boolean },
  ) {
    this.id = id;
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.expectedBytes = head.contentLength;
    this.owner = how.owner;
    this.sender = how.sender;
    this.sendWindow = how.sendWindow;
    this.remoteEnded = how.remoteEnded;
  }

  /** Null where the request ended with its headers. */
  get body(): Readable | null {
    return this.incoming;
  }

  /** Enough waits for the client. */
  get isFull(): boolean {
    const pieces = this.laterChunks === undefined ? 0 : this.laterChunks.length;
    return this.unsentBytes >= STREAM_UNSENT_BYTES_MAX || pieces >= STREAM_UNSENT_PIECES_MAX;
  }

  /** The whole answer. Throws where it cannot be written; then nothing was. */
  respond(status: number, headers: readonly string[], body: Uint8Array | null): void {
    if (!this.open || this.headGiven) return;
    checkStatus(status);
    const length = body === null || this.isBodiless(status) ? 0 : body.byteLength;
    this.sender.head(this, status, headers, length === 0);
    this.headGiven = true;
    this.ended = true;
    if (length > 0) this.queue(body!);
  }

  head(status: number, headers: readonly string[]): void {
    if (!this.open || this.headGiven) return;
    checkStatus(status);
    this.bodiless = this.isBodiless(status);
    this.sender.head(this, status, headers, false);
    this.headGiven = true;
  }

  /** False: the receiver will be told when to go on. The bytes must not change any more. */
  write(chunk: Uint8Array): boolean {
    if (!this.open || !this.headGiven || this.ended || this.bodiless || chunk.byteLength === 0) return true;
    this.queue(chunk);
    this.heldBack = this.isFull;
    return !this.heldBack;
  }

  end(trailers: readonly string[]): void {
    if (!this.open || this.ended) return;
    if (!this.headGiven) {
      // An answer without a head is none.
      this.reset();
      return;
    }
    this.ended = true;
    if (trailers.length > 0 && !this.bodiless && !this.frameTrailers(trailers)) return;
    this.sender.wake(this);
  }

  /** Breaks the answer off; the client can tell. */
  reset(code: number = ErrorCode.internalError): void {
    if (this.open) this.owner.reset(this, code);
  }

  /** Breaks the answer off because the client makes no progress. */
  resetStalled(): void {
    if (this.open) this.owner.resetStalled(this);
  }

  /** Bytes of the answer, its head included, that wait for the client. */
  get waitingBytes(): number {
    return this.unsentBytes + (this.headFrames?.length ?? 0) + (this.trailerFrames?.length ?? 0);
  }

  /** Moves the next `bytes` of the answer, which must be there, into a frame. */
  copyInto(into: Buffer, offset: number, bytes: number): number {
    this.unsentBytes -= bytes;
    let at = offset;
    let left = bytes;
    while (left > 0) {
      const chunk = this.chunk!;
      const from = this.chunkOffset;
      const taken = Math.min(left, chunk.byteLength - from);
      into.set(from === 0 && taken === chunk.byteLength ? chunk : chunk.subarray(from, from + taken), at);
      at += taken;
      left -= taken;
      this.chunkOffset = from + taken;
      if (this.chunkOffset === chunk.byteLength) this.nextChunk();
    }
    return at;
  }

  /** The same where those bytes lie, if they lie in one piece. */
  takePiece(bytes: number): Uint8Array | undefined {
    const chunk = this.chunk!;
    const from = this.chunkOffset;
    if (chunk.byteLength - from < bytes) return undefined;
    this.unsentBytes -= bytes;
    this.chunkOffset = from + bytes;
    if (this.chunkOffset === chunk.byteLength) this.nextChunk();
    return chunk.subarray(from, from + bytes);
  }

  /**
   * It has to wait for its client, for as long as that likes: what waits is copied out of memory that small answers share,
   * all of which would wait with it. Later chunks come from answers that stream, and those share none.
   */
  ownUnsent(): void {
    const { chunk } = this;
    if (chunk === undefined || chunk.buffer.byteLength < 2 * chunk.byteLength) return;
    this.chunk = new Uint8Array(chunk.subarray(this.chunkOffset));
    this.chunkOffset = 0;
  }

  /** Lets go of what nobody will send any more. */
  dropUnsent(): void {
    this.chunk = undefined;
    this.laterChunks = undefined;
    this.headFrames = undefined;
    this.trailerFrames = undefined;
    this.unsentBytes = 0;
  }

  private isBodiless(status: number): boolean {
    return this.method === 'HEAD' || status === 204 || status === 304;
  }

  private queue(chunk: Uint8Array): void {
    this.unsentBytes += chunk.byteLength;
    if (this.chunk === undefined) this.chunk = chunk;
    else if (this.laterChunks === undefined) this.laterChunks = [chunk];
    else this.laterChunks.push(chunk);
    this.sender.wake(this);
  }

  private nextChunk(): void {
    this.chunkOffset = 0;
    this.chunk = this.laterChunks?.shift();
  }

  private frameTrailers(trailers: readonly string[]): boolean {
    try {
      this.trailerFrames = headFrames({
        streamId: this.id,
        status: 0,
        fields: trailers,
        endStream: true,
        // They wait behind the body, and the client may make its table smaller in the meantime.
        tableUnused: true,
      });
      return true;
    } catch {
      // A server may say what one protocol allows and the other does not.
      this.reset(ErrorCode.internalError);
      return false;
    }
  }
}

/** Statuses below belong to answers that are still to come, which nobody here gives. */
function checkStatus(status: number): void {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`cannot answer with ${status}`);
}
