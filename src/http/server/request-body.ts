import { Readable } from 'node:stream';

/**
 * Request body, decoupled from its connection. Destroying it (an attempt to forward it failed)
 * leaves the connection open, because the reply is still to be sent on it.
 */
export class RequestBody extends Readable {
  readonly #source: Readable;
  #firstRead: (() => void) | undefined;
  #ended = false;
  #receivedBytes = 0;

  /** Calls `firstRead` when somebody begins to read. */
  constructor(source: Readable, firstRead?: () => void) {
    super({ highWaterMark: 64 * 1024 });
    this.#source = source;
    this.#firstRead = firstRead;
    // Without a reader (a refused request, or between two attempts) an 'error' event would be
    // thrown.
    this.on('error', () => {});
    source.pause();
    source.on('data', this.#onData);
    source.once('end', this.#onEnd);
    source.once('error', this.#onBroken);
    source.once('close', this.#onBroken);
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get waitsForClient(): boolean {
    return !this.#ended && !this.destroyed && this.readableLength === 0 && this.#source.readableFlowing === true;
  }

  override _read(): void {
    this.#firstRead?.();
    this.#firstRead = undefined;
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.off('data', this.#onData);
    // The rest of the body is read and dropped, otherwise the connection could not be reused.
    this.#source.resume();
    callback(error);
  }

  #onData = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.byteLength;
    if (!this.push(chunk)) this.#source.pause();
  };

  #onEnd = (): void => {
    this.#ended = true;
    this.push(null);
  };

  #onBroken = (error?: Error): void => {
    if (!this.#ended && !this.destroyed)
      this.destroy(error ?? new Error('unexpected EOF in the request body: client disconnected'));
  };
}
