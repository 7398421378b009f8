import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import { addressBlock } from '../address-block.js';
import { remoteAddressOf } from './client-connection.js';
import type { Admission } from './connection-table.js';

/**
 * Handshakes begun in one turn of the event loop. Each costs about a millisecond of CPU time before
 * the client has proven anything.
 */
export const HANDSHAKES_PER_TURN_MAX = 8;

/**
 * Least delay before waiting connections are tried again. A pass visits every waiting address, of
 * which a hostile client may have thousands.
 */
export const RETRY_MS_MIN = 50;

export interface HandshakeQueueOptions {
  readonly clock: Clock;
  /** Bound on the wait for the handshake; the connection is closed after it. */
  readonly waitMs: number;
  /** Current bound on the waiting connections of all addresses. */
  readonly waitingMax: () => number;
  /** Takes the connection into the table of connections, if that has room. */
  readonly admit: (socket: Socket) => Admission;
  /** Starts the TLS handshake of an admitted connection. */
  readonly begin: (socket: Socket) => void;
  /** Called for each connection that is closed because too many wait. */
  readonly onOverflow: () => void;
}

interface Waiter {
  readonly socket: Socket;
  readonly address: string;
  cancelTimeout: () => void;
}

/**
 * Accepted connections whose TLS handshake has not begun. Address blocks take turns, first come
 * first served within each, so that a flood of connections from one address delays only that
 * address. Waiting connections must not have been read from.
 */
export class HandshakeQueue {
  readonly #options: HandshakeQueueOptions;
  /** Waiters by address block, in the order of their turns. No line is empty. */
  readonly #lines = new Map<string, Set<Waiter>>();
  #size = 0;
  #leftInTurn = HANDSHAKES_PER_TURN_MAX;
  #retryAtMs = Number.POSITIVE_INFINITY;
  #cancelRetry: () => void = () => {};

  constructor(options: HandshakeQueueOptions) {
    this.#options = options;
  }

  /** Number of waiting connections. */
  get size(): number {
    return this.#size;
  }

  /** Begins the handshake of a connection, now or in its turn. */
  enter(socket: Socket): void {
    const address = addressBlock(remoteAddressOf(socket));
    const line = this.#lines.get(address) ?? new Set();
    const waiter: Waiter = { socket, address, cancelTimeout: () => {} };
    // Others of this address were here before; whatever they wait for has not changed.
    if (line.size === 0 && this.#leftInTurn > 0 && this.#beginNow(waiter) === undefined) return;
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#leave(waiter));
    waiter.cancelTimeout = this.#options.clock.after(this.#options.waitMs, () => this.#close(waiter));
    line.add(waiter);
    this.#lines.set(address, line);
    this.#size += 1;
    if (this.#size > this.#options.waitingMax()) this.#dropNewestOfLongestLine();
  }

  destroyAll(): void {
    this.#cancelRetry();
    for (const line of [...this.#lines.values()]) for (const waiter of [...line]) this.#close(waiter);
  }

  /** Removes a waiter at once: the event of its socket follows later. */
  #close(waiter: Waiter): void {
    this.#leave(waiter);
    waiter.socket.destroy();
  }

  #leave(waiter: Waiter): void {
    const line = this.#lines.get(waiter.address);
    if (!line?.delete(waiter)) return;
    waiter.cancelTimeout();
    this.#size -= 1;
    if (line.size === 0) this.#lines.delete(waiter.address);
  }

  /** Begins or closes a connection; returns the time after which to try again if it must wait. */
  #beginNow({ socket }: Waiter): number | undefined {
    const admission = this.#options.admit(socket);
    if (typeof admission === 'object') {
      this.#retryAfter(admission.retryMs);
      return admission.retryMs;
    }
    if (admission === 'refused') socket.destroy();
    else {
      if (this.#leftInTurn === HANDSHAKES_PER_TURN_MAX) setImmediate(() => this.#nextTurn());
      this.#leftInTurn -= 1;
      this.#options.begin(socket);
    }
    return undefined;
  }

  #nextTurn(): void {
    this.#leftInTurn = HANDSHAKES_PER_TURN_MAX;
    this.#beginWaiting();
  }

  /** Begins handshakes in turn until the turn of the event loop is used up or nobody may begin. */
  #beginWaiting(): void {
    for (const [address, line] of this.#lines) {
      if (this.#leftInTurn === 0) return;
      const [waiter] = line;
      if (!waiter!.socket.destroyed && this.#beginNow(waiter!) !== undefined) continue;
      this.#leave(waiter!);
      // The iteration meets this line again after all others.
      if (this.#lines.delete(address)) this.#lines.set(address, line);
    }
  }

  #retryAfter(retryMs: number): void {
    const delayMs = Math.max(retryMs, RETRY_MS_MIN);
    const atMs = this.#options.clock.nowMs() + delayMs;
    if (atMs >= this.#retryAtMs) return;
    this.#cancelRetry();
    this.#retryAtMs = atMs;
    this.#cancelRetry = this.#options.clock.after(delayMs, () => {
      this.#retryAtMs = Number.POSITIVE_INFINITY;
      this.#beginWaiting();
    });
  }

  #dropNewestOfLongestLine(): void {
    let longest: Set<Waiter> | undefined;
    for (const line of this.#lines.values()) if (line.size >= (longest?.size ?? 0)) longest = line;
    this.#options.onOverflow();
    this.#close([...longest!].at(-1)!);
  }
}
