import { BodyStream } from './body-stream.js';

/** Bodies up to this size are written at once. */
export const WHOLE_BODY_BYTES_MAX = 2 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * A body as it is or, where it is long, as a stream of its parts: a connection encrypts what it is given at once, and a hundred
 * megabytes would keep everybody else waiting. The receiver gets the next part when it has sent the one before.
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
    // A receiver may resume while it is being given a part.
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
