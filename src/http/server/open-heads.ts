import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import { headerValue } from '../headers.js';
import type { OpenBlock } from '../http2/http2-limits.js';
import type { LargeHeads } from './large-heads.js';

/** Interval of the looks. What clients can send meanwhile is beyond the bound. */
const LOOK_MS = 250;
/** Bytes that Node.js reads from a TLS connection in one go; its parser gets them at once. */
const READ_BYTES_MAX = 16 * 1024;
/** Time after the header timeout by which Node.js has ended a connection whose head is not complete. */
const TIMEOUT_DELAY_MS = 2_500;

export interface OpenHeadsOptions {
  readonly largeHeads: LargeHeads;
  /** Above it Node.js refuses a head. */
  readonly headerBytesMax: number;
  readonly headerTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Counts the heads of HTTP/1.1 requests that are not complete among the incomplete header blocks of LargeHeads. Node's parser
 * keeps them and reports nothing until they are complete, so the connections are looked at, all in one turn.
 */
export class OpenHeads {
  readonly #options: OpenHeadsOptions;
  readonly #connections = new Map<TLSSocket, OpenHead>();
  #cancelLook: (() => void) | undefined;

  constructor(options: OpenHeadsOptions) {
    this.#options = options;
  }

  /** Counts the heads of a connection until it closes or is released. */
  add(socket: TLSSocket): void {
    this.#connections.set(socket, new OpenHead(socket, this.#options));
    socket.once('close', () => this.release(socket));
    this.#lookLater();
  }

  /** The head of a request is complete. */
  completed(request: IncomingMessage): void {
    this.#connections.get(request.socket as TLSSocket)?.completed(request);
  }

  /** No further request comes. */
  release(socket: TLSSocket): void {
    this.#connections.get(socket)?.end();
    this.#connections.delete(socket);
    if (this.#connections.size > 0) return;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#options.clock.after(LOOK_MS, () => {
      this.#cancelLook = undefined;
      for (const head of this.#connections.values()) head.look();
      if (this.#connections.size > 0) this.#lookLater();
    });
  }
}

/** The bytes of one connection since its last complete request. */
class OpenHead implements OpenBlock {
  readonly #socket: TLSSocket;
  readonly #options: OpenHeadsOptions;
  /** Count of read bytes at which the head begins, at the earliest. */
  #start: number;
  /** Request whose body has an unknown length and is not complete. */
  #before: IncomingMessage | undefined;
  #largeSinceMs: number | undefined;

  constructor(socket: TLSSocket, options: OpenHeadsOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#start = socket.bytesRead;
  }

  completed(request: IncomingMessage): void {
    this.end();
    const length = Number(headerValue(request.rawHeaders, 'content-length') ?? 0);
    this.#start = this.#socket.bytesRead + length;
    this.#before = undefined;
    if (headerValue(request.rawHeaders, 'transfer-encoding') !== undefined) this.#waitForEnd(request);
  }

  /** Not for its event `end`: a request that is not read has that at any time later, with the next head behind it already. */
  #waitForEnd(request: IncomingMessage): void {
    this.#before = request;
    const push = request.push;
    request.push = (chunk, encoding) => {
      if (chunk === null && this.#before === request) {
        this.#before = undefined;
        // What was read in one go with the end of the body may be a head.
        this.#start = Math.max(this.#start, this.#socket.bytesRead - READ_BYTES_MAX);
      }
      return push.call(request, chunk, encoding);
    };
  }

  look(): void {
    const { largeHeads, headerBytesMax, headerTimeoutMs, clock } = this.#options;
    const read = this.#socket.bytesRead;
    if (this.#before) this.#start = read;
    const bytes = Math.min(read - this.#start, headerBytesMax);
    if (!largeHeads.isLarge(bytes)) return;
    this.#largeSinceMs ??= clock.nowMs();
    if (clock.nowMs() - this.#largeSinceMs > headerTimeoutMs + TIMEOUT_DELAY_MS) {
      this.#start = read;
      this.end();
    } else if (!largeHeads.blockGrew(this, bytes)) this.displace();
  }

  end(): void {
    this.#largeSinceMs = undefined;
    this.#options.largeHeads.blockEnded(this);
  }

  displace(): void {
    this.#socket.destroy();
  }
}
