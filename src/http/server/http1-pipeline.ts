import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';

/**
 * Bound on pipelined requests that wait for an earlier reply. Kubernetes clients do not pipeline.
 */
export const PIPELINED_REQUESTS_MAX = 32;
/**
 * Timeout after a reply for the rest of a request body that was not read; then the connection is
 * closed.
 */
const UNREAD_BODY_MS = 5_000;

export interface PipelinedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Size of the head, counted as by `headListBytes`. */
  readonly headBytes: number;
  begin(): void;
}

/**
 * Requests of one HTTP/1.1 connection, started one after the other: otherwise the replies to all
 * pipelined requests would wait in memory for a client that does not read.
 */
export class Http1Pipeline {
  readonly #socket: Duplex;
  readonly #clock: Clock;
  /** Bound on `#waitingBytes`, the bytes of the heads of waiting requests. */
  readonly #waitingBytesMax: number;
  #waitingBytes = 0;
  readonly #waiting: PipelinedRequest[] = [];
  #current: PipelinedRequest | undefined;

  constructor(socket: Duplex, clock: Clock, waitingBytesMax: number) {
    this.#socket = socket;
    this.#clock = clock;
    this.#waitingBytesMax = waitingBytesMax;
  }

  /** True while a request has no complete reply. */
  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /**
   * True if the client could not take an error reply, written now, for a reply or part of a reply
   * to an earlier request.
   */
  get canRefuse(): boolean {
    if (!this.#current) return true;
    const { request, response } = this.#current;
    return !request.complete && !response.headersSent;
  }

  /**
   * Starts the request now or after the earlier ones; returns false if too many or too large heads
   * wait.
   */
  add(next: PipelinedRequest): boolean {
    if (!this.#current) {
      this.#begin(next);
      return true;
    }
    const waitingBytes = this.#waitingBytes + next.headBytes;
    if (this.#waiting.length >= PIPELINED_REQUESTS_MAX || waitingBytes > this.#waitingBytesMax) return false;
    this.#waitingBytes = waitingBytes;
    this.#waiting.push(next);
    return true;
  }

  #beginNext(): void {
    const next = this.#waiting.shift();
    this.#current = undefined;
    if (!next) return;
    this.#waitingBytes -= next.headBytes;
    this.#begin(next);
  }

  #begin(next: PipelinedRequest): void {
    this.#current = next;
    next.begin();
    next.response.on('close', () => {
      // Node assigns no further response to a socket that it closes: a request started now would
      // never end.
      if (!this.#socket.writable) return;
      if (!next.request.complete) this.#closeUnlessRead(next.request);
      this.#beginNext();
    });
  }

  /**
   * Closes the connection unless the rest of the body arrives in time: the next request follows it.
   */
  #closeUnlessRead(request: IncomingMessage): void {
    this.#clock.after(UNREAD_BODY_MS, () => {
      if (!request.complete) this.#socket.destroy();
    });
  }
}
