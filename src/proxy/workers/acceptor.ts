import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';

/** A recipient of connections: a worker. */
export interface Taker {
  readonly isTaking: boolean;
  readonly connections: number;
  take(socket: Socket): void;
}

export interface AcceptorOptions {
  readonly host: string;
  readonly port: number;
  /** Bound on the connections of all takers together. */
  readonly connectionsMax: number;
  readonly takers: () => readonly Taker[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Bounds on connections that wait while no worker serves: at start, or after all have ended. */
const WAITING_MAX = 1_000;
const WAIT_MS_MAX = 5_000;

/**
 * Listens on the port and passes each connection to the worker with the fewest. API clients have
 * few connections that last for hours, so an even distribution is more important than a fast
 * accept.
 */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #server: Server;
  readonly #waiting = new Set<Socket>();
  /** Turn of the last connection of each taker; breaks ties between takers. */
  readonly #turns = new Map<Taker, number>();
  #turn = 0;
  #closed = false;

  constructor(options: AcceptorOptions) {
    this.#options = options;
    // No byte is read in the head: the TLS handshake is done in the worker.
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket));
  }

  listen(): Promise<AddressInfo> {
    const { host, port, logger } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => logger.error('cannot accept connections', { error }));
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /** Passes waiting connections on, after a taker has begun to take. */
  takerReady(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) this.#give(socket);
  }

  takerGone(taker: Taker): void {
    this.#turns.delete(taker);
  }

  /** Stops listening and closes waiting connections. Connections of takers stay open. */
  close(): void {
    this.#closed = true;
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
    this.#waiting.clear();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    const open = this.#options.takers().reduce((sum, taker) => sum + taker.connections, this.#waiting.size);
    if (this.#closed || open >= this.#options.connectionsMax) socket.destroy();
    else this.#give(socket);
  }

  #give(socket: Socket): void {
    const taker = this.#next();
    if (taker) {
      this.#turns.set(taker, ++this.#turn);
      taker.take(socket);
    } else if (this.#waiting.size < WAITING_MAX) {
      this.#wait(socket);
    } else socket.destroy();
  }

  #wait(socket: Socket): void {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    this.#options.clock.after(WAIT_MS_MAX, () => {
      if (this.#waiting.has(socket)) socket.destroy();
    });
  }

  #next(): Taker | undefined {
    let best: Taker | undefined;
    for (const taker of this.#options.takers()) {
      if (!taker.isTaking) continue;
      const fewer = !best || taker.connections < best.connections;
      const sameAndEarlier = best && taker.connections === best.connections && this.#turnOf(taker) < this.#turnOf(best);
      if (fewer || sameAndEarlier) best = taker;
    }
    return best;
  }

  #turnOf(taker: Taker): number {
    return this.#turns.get(taker) ?? 0;
  }
}
