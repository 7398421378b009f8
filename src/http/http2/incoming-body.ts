import { Readable } from 'node:stream';

/**
 * High-water mark of the Readable: one chunk at a time. Unread bytes must stay in `#waiting`, where
 * small ones are gathered and count against the client's flow-control windows.
 */
const READ_AHEAD_BYTES = 1;
/**
 * Smaller DATA payloads are copied into blocks of this size: a body sent byte by byte must not keep
 * an object and a read buffer alive for each byte.
 */
const GATHER_BYTES = 4 * 1024;

/**
 * Request body. Destroying it (an attempt to forward it failed) leaves the HTTP/2 stream and the
 * connection open; bytes received later are dropped.
 */
export class IncomingBody extends Readable {
  readonly #consumed: (bytes: number) => void;
  #firstRead: (() => void) | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Block that small payloads are being copied into; its first `#gatheredBytes` are filled. */
  #gathering: Buffer | undefined;
  #gatheredBytes = 0;
  #wanted = false;
  #passing = false;
  #complete = false;
  #ended = false;
  #dropping = false;
  #receivedBytes = 0;

  /**
   * `consumed` is called once for every byte, when it leaves this buffer: the flow-control windows
   * grow by as much. `firstRead` is called when a reader begins before any byte has arrived.
   */
  constructor(consumed: (bytes: number) => void, firstRead?: () => void) {
    super({ highWaterMark: READ_AHEAD_BYTES });
    this.#consumed = consumed;
    this.#firstRead = firstRead;
    // Without a reader (a refused request, or between two attempts) an 'error' event would be
    // thrown.
    this.on('error', () => {});
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** True while a reader waits for bytes that the client has not sent. */
  get waitsForClient(): boolean {
    return this.#wanted && !this.#complete && !this.#dropping && this.#waitingBytes === 0;
  }

  add(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length === 0) return;
    this.#receivedBytes += length;
    if (this.#dropping) {
      this.#consumed(length);
      return;
    }
    this.#waitingBytes += length;
    if (length < GATHER_BYTES) {
      this.#gather(bytes, start, end);
      if (this.#wanted) this.#passSoon();
      return;
    }
    this.#sealGathered();
    this.#waiting.push(bytes.subarray(start, end));
    if (this.#wanted) this.#pass();
  }

  /** Marks the body as complete (END_STREAM received). */
  finish(): void {
    this.#complete = true;
    this.#pass();
  }

  /** Fails the reader of an incomplete body: the stream was closed before END_STREAM. */
  breakOff(): void {
    if (!this.#ended && !this.destroyed)
      this.destroy(new Error('unexpected EOF in the request body: the stream was closed'));
  }

  override _read(): void {
    this.#wanted = true;
    if (this.#firstRead !== undefined) {
      const firstRead = this.#firstRead;
      this.#firstRead = undefined;
      if (this.#receivedBytes === 0 && !this.#complete) firstRead();
    }
    this.#pass();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#dropping = true;
    const unread = this.#waitingBytes;
    this.#waiting = [];
    this.#gathering = undefined;
    this.#gatheredBytes = 0;
    this.#waitingBytes = 0;
    if (unread > 0) this.#consumed(unread);
    callback(error);
  }

  /** Passes small payloads at the end of the turn: single bytes must not each be passed on. */
  #passSoon(): void {
    if (this.#passing) return;
    this.#passing = true;
    setImmediate(() => {
      this.#passing = false;
      this.#pass();
    });
  }

  #pass(): void {
    if (this.#wanted) this.#sealGathered();
    // Each block is removed before push(), which may call _read() and this method again.
    while (this.#wanted && this.#waiting.length > 0) {
      const block = this.#waiting.shift()!;
      this.#waitingBytes -= block.length;
      this.#wanted = this.push(block);
      this.#consumed(block.length);
    }
    this.#endWhenPassed();
  }

  #endWhenPassed(): void {
    if (!this.#complete || this.#ended || this.#dropping || this.#waitingBytes > 0) return;
    this.#ended = true;
    this.push(null);
  }

  #gather(bytes: Buffer, start: number, end: number): void {
    let from = start;
    while (from < end) {
      this.#gathering ??= Buffer.allocUnsafe(GATHER_BYTES);
      const copied = bytes.copy(this.#gathering, this.#gatheredBytes, from, end);
      this.#gatheredBytes += copied;
      from += copied;
      if (this.#gatheredBytes === GATHER_BYTES) this.#sealGathered();
    }
  }

  #sealGathered(): void {
    if (this.#gatheredBytes === 0) return;
    const gathered = this.#gathering!.subarray(0, this.#gatheredBytes);
    this.#gatheredBytes = 0;
    if (gathered.length < GATHER_BYTES / 2) {
      // Copied: a reader that keeps the chunk would keep the whole block.
      this.#waiting.push(Buffer.from(gathered));
      return;
    }
    this.#waiting.push(gathered);
    this.#gathering = undefined;
  }
}
