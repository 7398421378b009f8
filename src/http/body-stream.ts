/** Where a body's bytes go. `write` returns false when the receiver wants a pause until it calls `resume`. */
export interface BodySink {
  write(chunk: Uint8Array): boolean;
  end(trailers: readonly string[]): void;
  /** The body broke off: the receiver must show it as broken, never as complete. */
  fail(error: Error): void;
}

/** What the producer does when the receiver is slow, keeps up again, or has gone. */
export interface BodySource {
  pause(): void;
  resume(): void;
  cancel(error: Error): void;
}

/** What one read from a connection gives at most. */
const EARLY_BYTES_MAX = 64 * 1024;

/**
 * A body on its way from one producer to one receiver, with back-pressure and without Node's stream machinery, which
 * costs more per request than everything else on the pass-through path.
 *
 * The producer may push before a receiver is attached (headers and the first bytes often arrive together); those
 * chunks are kept, up to a bound beyond which the producer is paused. Most answers are all there by then.
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

  /** Starts the flow. One receiver only, once. */
  attach(sink: BodySink): void {
    if (this.#sink) throw new Error('a body has one receiver');
    this.#sink = sink;
    let wantsMore = true;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) {
      wantsMore = sink.write(chunk);
      // The receiver has had enough.
      if (this.#done) return;
    }
    if (this.#outcome) this.#deliver(this.#outcome);
    else if (wantsMore) this.resume();
    else this.#pause();
  }

  /** All of it, where all has come, without trailers and before any receiver: one write instead of three. */
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

  /** Called by the receiver, or by whoever drops the reply unread, when no more is wanted. */
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

/** Reads a whole body into memory; more than `bytesMax` is an error, and the rest is not read. */
export function readBody(body: BodyStream | Uint8Array | null, bytesMax: number): Promise<Buffer> {
  if (body === null) return Promise.resolve(Buffer.alloc(0));
  if (body instanceof Uint8Array) {
    if (body.byteLength > bytesMax) return Promise.reject(tooLarge(bytesMax));
    return Promise.resolve(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    body.attach({
      write(chunk) {
        bytes += chunk.byteLength;
        if (bytes > bytesMax) {
          const error = tooLarge(bytesMax);
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

function tooLarge(bytesMax: number): Error {
  return new Error(`body is larger than ${bytesMax} bytes`);
}
