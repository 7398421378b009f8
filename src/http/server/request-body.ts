import { Readable } from 'node:stream';

/**
 * A request's body apart from the connection it comes in on. Whoever reads it may destroy it when an attempt fails,
 * and the connection must survive that, because the answer still has to go out on it.
 */
export class RequestBody extends Readable {
  readonly #source: Readable;
  #ended = false;
  #receivedBytes = 0;

  constructor(source: Readable) {
    super({ highWaterMark: 64 * 1024 });
    this.#source = source;
    // A request that was refused has no reader, and one that moves on has none for a while; its client may leave then.
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
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.off('data', this.#onData);
    // What the client still sends is read and dropped, or the connection could never carry its next request.
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
      this.destroy(error ?? new Error('the client left in the middle of its request'));
  };
}
