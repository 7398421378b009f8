import type { Readable } from 'node:stream';
import { STREAM_UNSENT_BYTES_MAX, STREAM_UNSENT_PIECES_MAX, STREAM_WINDOW_BYTES } from './http2-limits.js';
import type { IncomingBody } from './incoming-body.js';
import { ErrorCode } from './protocol.js';
import type { Http2RequestHead } from './request-head.js';
import { headFrames } from './response-head.js';

/** Events of a response, for the handler that writes it. */
export interface StreamReceiver {
  /** Called after `write` returned false, when the unsent bytes have dropped below the bound. */
  drained(): void;
  /** Called once: the response was passed to the connection, or the stream was reset or lost. */
  closed(): void;
}

/** Methods of StreamSet that a stream calls. */
export interface StreamOwner {
  reset(stream: ServerStream, code: number): void;
  /** Resets a stream whose client makes no progress; after the last one, the connection drains. */
  resetStalled(stream: ServerStream): void;
}

/** Methods of Sender that a stream calls. */
export interface StreamSender {
  head(stream: ServerStream, status: number, fields: readonly string[], endStream: boolean): void;
  /** Sends 100 (Continue). */
  askForBody(stream: ServerStream): void;
  /** Schedules a stream that has more bytes to send, or a larger flow-control window. */
  wake(stream: ServerStream): void;
}

/**
 * One request and its response. The handler uses `method`, `target`, `headers`, `headBytes`, `body`, `incoming`,
 * `receiver`, `respond`, `head`, `write`, `end`, `reset`, `resetStalled` and `waitingBytes`; all else
 * is shared between the classes of this folder (see ServerConnection).
 */
export class ServerStream {
  readonly method: string;
  readonly target: string;
  /** Alternating names and values. */
  readonly headers: string[];
  /** Size of the head, as in RFC 9113, 10.5.1. */
  readonly headBytes: number;
  receiver: StreamReceiver | undefined;

  readonly id: number;
  readonly expectedBytes: number;
  incoming: IncomingBody | null = null;
  /** Bytes the client may still send, and consumed bytes not yet returned by WINDOW_UPDATE. */
  receiveWindow = STREAM_WINDOW_BYTES;
  unreturnedBytes = 0;
  receivedBytes = 0;
  remoteEnded: boolean;

  sendWindow: number;
  unsentBytes = 0;
  open = true;
  /** No more response bytes will be added. */
  ended = false;
  /** Encoded head and trailers that wait for the socket. */
  headFrames: Buffer | undefined;
  endsWithHead = false;
  trailerFrames: Buffer | undefined;
  heldBack = false;
  /** True while the stream is in the sender's `ready` queue. */
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
    head: Http2RequestHead,
    how: {
      owner: StreamOwner;
      sender: StreamSender;
      headBytes: number;
      sendWindow: number;
      remoteEnded: boolean;
    },
  ) {
    this.id = id;
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.headBytes = how.headBytes;
    this.expectedBytes = head.contentLength;
    this.owner = how.owner;
    this.sender = how.sender;
    this.sendWindow = how.sendWindow;
    this.remoteEnded = how.remoteEnded;
  }

  /** Null if HEADERS had END_STREAM. */
  get body(): Readable | null {
    return this.incoming;
  }

  /** Back-pressure: unsent bytes or chunks have reached their bound. */
  get isFull(): boolean {
    const pieces = this.laterChunks === undefined ? 0 : this.laterChunks.length;
    return this.unsentBytes >= STREAM_UNSENT_BYTES_MAX || pieces >= STREAM_UNSENT_PIECES_MAX;
  }

  /**
   * Sends the whole response. Throws for an invalid status or header field; then nothing is sent.
   */
  respond(status: number, headers: readonly string[], body: Uint8Array | null): void {
    if (!this.open || this.headGiven) return;
    checkStatus(status);
    const length = body === null || this.isBodiless(status) ? 0 : body.byteLength;
    this.sender.head(this, status, sendableFields(status, headers), length === 0);
    this.headGiven = true;
    this.ended = true;
    if (length > 0) this.queue(body!);
  }

  head(status: number, headers: readonly string[]): void {
    if (!this.open || this.headGiven) return;
    checkStatus(status);
    this.bodiless = this.isBodiless(status);
    this.sender.head(this, status, sendableFields(status, headers), false);
    this.headGiven = true;
  }

  /** Asks the client for a body that it holds back, unless it was answered already. */
  askForBody(): void {
    if (this.open && !this.headGiven) this.sender.askForBody(this);
  }

  /** Returns false until `receiver.drained`. The caller must not modify `chunk` afterwards. */
  write(chunk: Uint8Array): boolean {
    if (!this.open || !this.headGiven || this.ended || this.bodiless || chunk.byteLength === 0) return true;
    this.queue(chunk);
    this.heldBack = this.isFull;
    return !this.heldBack;
  }

  end(trailers: readonly string[]): void {
    if (!this.open || this.ended) return;
    if (!this.headGiven) {
      // end() without head() leaves no valid response to complete.
      this.reset();
      return;
    }
    this.ended = true;
    if (trailers.length > 0 && !this.bodiless && !this.frameTrailers(trailers)) return;
    this.sender.wake(this);
  }

  /** Aborts the response with RST_STREAM. */
  reset(code: number = ErrorCode.internalError): void {
    if (this.open) this.owner.reset(this, code);
  }

  /** Aborts the response because the client makes no progress. */
  resetStalled(): void {
    if (this.open) this.owner.resetStalled(this);
  }

  /** Unsent bytes of the response, its head and trailers included. */
  get waitingBytes(): number {
    return this.unsentBytes + (this.headFrames?.length ?? 0) + (this.trailerFrames?.length ?? 0);
  }

  /** Copies the next `bytes` of the response into a frame; at least that many must be unsent. */
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

  /** Removes and returns the next `bytes` without a copy; undefined if they span chunks. */
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
   * Copies the first unsent chunk if it is a slice of a larger buffer: the wait for the client is
   * unbounded, and small responses share buffers that would stay alive as long. Later chunks belong
   * to streamed responses, which share none.
   */
  copyUnsent(): void {
    const { chunk } = this;
    if (chunk === undefined || chunk.buffer.byteLength < 2 * chunk.byteLength) return;
    this.chunk = new Uint8Array(chunk.subarray(this.chunkOffset));
    this.chunkOffset = 0;
  }

  /** Discards unsent bytes of a closed stream. */
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
        // Trailers wait behind the body, and the client may reduce its table in the meantime.
        tableUnused: true,
      });
      return true;
    } catch {
      // HTTP/1.1 trailers of a server may be invalid in HTTP/2.
      this.reset(ErrorCode.internalError);
      return false;
    }
  }
}

/**
 * A 204 has no Content-Length, and a 304 may have none (RFC 9110, 8.6): with one, Go's client reports a body that is missing.
 */
function sendableFields(status: number, fields: readonly string[]): readonly string[] {
  if (status !== 204 && status !== 304) return fields;
  const isLength = (i: number) => fields[i & ~1]!.toLowerCase() === 'content-length';
  return fields.filter((_, i) => !isLength(i));
}

/** Throws for a status outside 200–599; the only interim response is 100, sent by `askForBody`. */
function checkStatus(status: number): void {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`invalid response status ${status}`);
}
