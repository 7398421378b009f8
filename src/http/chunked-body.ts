import { BodyStream } from './body-stream.js';

/** Bodies up to this size are written at once. */
export const WHOLE_BODY_BYTES_MAX = 2 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * Returns a short body unchanged, a long one as a stream of parts: a connection encrypts each write
 * at once, and a hundred megabytes would block all other clients. The receiver gets the next part
 * when it has sent the previous one.
 */
export function chunkedBody(bytes: Uint8Array): Uint8Array | BodyStream {
  return bytes.byteLength <= WHOLE_BODY_BYTES_MAX ? bytes : new ChunkedBody(bytes).stream;
}

class ChunkedBody {
  readonly stream: BodyStream;
  readonly #bytes: Uint8Array;
  #at = 0;
  #isPaused = false;
  #isPushing = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.stream = new BodyStream({
      pause: () => {
        this.#isPaused = true;
      },
      resume: () => {
        this.#isPaused = false;
        this.#push();
      },
      cancel: () => {
        this.#at = this.#bytes.byteLength;
      },
    });
    this.#push();
  }

  #push(): void {
    // A receiver may resume during a write.
    if (this.#isPushing) return;
    this.#isPushing = true;
    while (!this.#isPaused && this.#at < this.#bytes.byteLength) {
      const chunk = this.#bytes.subarray(this.#at, this.#at + CHUNK_BYTES);
      this.#at += chunk.byteLength;
      this.stream.push(chunk);
    }
    this.#isPushing = false;
    if (this.#at >= this.#bytes.byteLength) this.stream.end();
  }
}
