/** Receiver of a body. `write` returns false for back-pressure, until the receiver calls `resume`. */
export interface BodySink {
  write(chunk: Uint8Array): boolean;
  end(trailers: readonly string[]): void;
  /** The body was cut off: the receiver must show it as broken, never as complete. */
  fail(error: Error): void;
}

/** Producer of a body, controlled by the receiver: pause, resume, cancel. */
export interface BodySource {
  pause(): void;
  resume(): void;
  cancel(error: Error): void;
}

/** Bytes kept before a receiver is attached, at which the producer is paused: one full read of a connection. */
const EARLY_BYTES_MAX = 64 * 1024;

/**
 * A body between one producer and one receiver, with back-pressure and without Node.js streams,
 * which cost more per request than everything else on the pass-through path.
 *
 * The producer may push before a receiver is attached (headers and the first bytes often arrive
 * together). Those chunks are kept up to a bound, beyond which the producer is paused. Most replies
 * are complete by then.
 */
export class BodyStream {
  readonly #source: BodySource;
  #sink: BodySink | undefined;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  #outcome: { trailers: readonly string[] } | { error: Error } | undefined;
  #paused = false;
  #done = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    if (this.#done) return;
    if (!this.#sink) {
      this.#early.push(chunk);
      this.#earlyBytes += chunk.byteLength;
      if (this.#earlyBytes >= EARLY_BYTES_MAX) this.#pause();
    } else if (!this.#sink.write(chunk)) {
      this.#pause();
    }
  }

  end(trailers: readonly string[] = []): void {
    this.#finish({ trailers });
  }

  fail(error: Error): void {
    this.#finish({ error });
  }

  /** Attaches the only receiver and starts the flow. Throws on a second call. */
  attach(sink: BodySink): void {
    if (this.#sink) throw new Error('a body has one receiver');
    this.#sink = sink;
    let wantsMore = true;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) {
      wantsMore = sink.write(chunk);
      // The receiver has cancelled.
      if (this.#done) return;
    }
    if (this.#outcome) this.#deliver(this.#outcome);
    else if (wantsMore) this.resume();
    else this.#pause();
  }

  /** Returns a body that is complete, without trailers and receiver: one write instead of three. */
  takeWhole(): Uint8Array | undefined {
    const outcome = this.#outcome;
    if (this.#sink || this.#done || !outcome || 'error' in outcome || outcome.trailers.length > 0) return undefined;
    this.#done = true;
    const early = this.#early;
    this.#early = [];
    return early.length === 1 ? early[0] : Buffer.concat(early);
  }

  /** Called by the receiver when it can take more. */
  resume(): void {
    if (!this.#paused || this.#done) return;
    this.#paused = false;
    this.#source.resume();
  }

  /** Called by the receiver, or by code that drops the reply unread, when no more is needed. */
  cancel(error: Error): void {
    if (this.#done) return;
    this.#done = true;
    this.#early = [];
    this.#source.cancel(error);
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#source.pause();
  }

  #finish(outcome: { trailers: readonly string[] } | { error: Error }): void {
    if (this.#done || this.#outcome) return;
    this.#outcome = outcome;
    if (this.#sink) this.#deliver(outcome);
  }

  #deliver(outcome: { trailers: readonly string[] } | { error: Error }): void {
    this.#done = true;
    if ('error' in outcome) this.#sink!.fail(outcome.error);
    else this.#sink!.end(outcome.trailers);
  }
}

/** Thrown for a body that is larger than its reader allows. */
export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`body is larger than ${bytesMax} bytes`);
    this.name = 'BodyTooLargeError';
  }
}

/** Reads a whole body into memory. Rejects with BodyTooLargeError beyond `bytesMax`. */
export function readBody(body: BodyStream | Uint8Array | null, bytesMax: number): Promise<Buffer> {
  if (body === null) return Promise.resolve(Buffer.alloc(0));
  if (body instanceof Uint8Array) {
    if (body.byteLength > bytesMax) return Promise.reject(new BodyTooLargeError(bytesMax));
    return Promise.resolve(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    body.attach({
      write(chunk) {
        bytes += chunk.byteLength;
        if (bytes > bytesMax) {
          const error = new BodyTooLargeError(bytesMax);
          body.cancel(error);
          reject(error);
          return false;
        }
        chunks.push(chunk);
        return true;
      },
      end: () => resolve(Buffer.concat(chunks, bytes)),
      fail: reject,
    });
  });
}
