import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.js';

/** Requests that a client may send before the first of them is answered. Kubernetes clients send none. */
export const PIPELINED_REQUESTS_MAX = 32;
/** The rest of a body that was not wanted must arrive in this time after its reply, or the connection is closed. */
const UNREAD_BODY_MS = 5_000;

interface PipelinedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Counted while the request waits. */
  readonly headBytes: number;
  begin(): void;
}

/**
 * The requests of one HTTP/1.1 connection, begun one after the other: the replies to pipelined requests would otherwise all
 * wait in memory for a client that does not read.
 */
export class Http1Pipeline {
  readonly #socket: Duplex;
  readonly #clock: Clock;
  /** Bytes of the heads that wait. */
  readonly #waitingBytesMax: number;
  #waitingBytes = 0;
  readonly #waiting: PipelinedRequest[] = [];
  #current: PipelinedRequest | undefined;

  constructor(socket: Duplex, clock: Clock, waitingBytesMax: number) {
    this.#socket = socket;
    this.#clock = clock;
    this.#waitingBytesMax = waitingBytesMax;
  }

  /** A reply is under way or due. */
  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /** A refusal of what was just read would not be taken for a reply, or part of a reply, to an earlier request. */
  get canRefuse(): boolean {
    if (!this.#current) return true;
    const { request, response } = this.#current;
    return !request.complete && !response.headersSent;
  }

  /** Begins the request now or after those before it; false where too many, or too large ones, wait already. */
  add(request: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
    const headBytes = this.#current ? headBytesOf(request) : 0;
    this.#waitingBytes += headBytes;
    if (this.#waiting.length >= PIPELINED_REQUESTS_MAX || this.#waitingBytes > this.#waitingBytesMax) return false;
    this.#waiting.push({ request, response, headBytes, begin });
    if (!this.#current) this.#beginNext();
    return true;
  }

  #beginNext(): void {
    const next = this.#waiting.shift();
    this.#current = next;
    if (!next) return;
    this.#waitingBytes -= next.headBytes;
    next.begin();
    next.response.once('close', () => {
      // Node gives no further response a connection that it closes: one that began now would never end.
      if (!this.#socket.writable) return;
      if (!next.request.complete) this.#closeUnlessRead(next.request);
      this.#beginNext();
    });
  }

  /** The next request begins behind the rest of this body, which nobody reads: a client could send it for ever. */
  #closeUnlessRead(request: IncomingMessage): void {
    this.#clock.after(UNREAD_BODY_MS, () => {
      if (!request.complete) this.#socket.destroy();
    });
  }
}

function headBytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((bytes, part) => bytes + part.length, url.length);
}
