import type { DeadlineSweep } from './deadline-sweep.js';
import type { Dialler } from './dialler.js';
import type { Http1Attempt } from './http1-attempt.js';
import { type ConnectionHome, Http1Connection } from './http1-connection.js';

export interface ConnectionPoolOptions {
  readonly dialler: Dialler;
  readonly keepAliveMs: number;
  /** Its members are all open and connecting connections, of this pool and of others. */
  readonly sweep: DeadlineSweep<Http1Connection>;
}

/**
 * Keep-alive connections to one server, one request at a time on each. The most recently used one
 * is taken first (LIFO), so that surplus connections become idle and close. Taking one is O(1).
 */
export class ConnectionPool implements ConnectionHome {
  readonly sweep: DeadlineSweep<Http1Connection>;
  readonly keepAliveMs: number;
  readonly #dialler: Dialler;
  readonly #free: Http1Connection[] = [];
  #reserved: Http1Connection[] = [];
  #closing = false;

  constructor(options: ConnectionPoolOptions) {
    this.sweep = options.sweep;
    this.keepAliveMs = options.keepAliveMs;
    this.#dialler = options.dialler;
  }

  send(attempt: Http1Attempt): void {
    const free = this.#free.pop();
    if (!free) {
      const connection = new Http1Connection(this);
      this.sweep.members.add(connection);
      connection.dial(this.#dialler, attempt);
      return;
    }
    free.reserve(attempt);
    // The server may have closed an idle connection, or said on it what nobody asked: that is heard
    // before anything is written, or it would be taken for the answer.
    if (this.#reserved.push(free) === 1) setImmediate(this.#begin);
  }

  freed(connection: Http1Connection): void {
    if (this.#closing) void connection.destroy('connection is no longer used');
    else this.#free.push(connection);
  }

  lost(connection: Http1Connection, unbegun: Http1Attempt | undefined): void {
    this.sweep.members.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    if (unbegun) this.send(unbegun);
  }

  /** Closes idle connections now, and busy ones after their reply. */
  close(): void {
    this.#closing = true;
    for (const connection of this.#free.splice(0)) void connection.destroy('connection is no longer used');
  }

  #begin = (): void => {
    const reserved = this.#reserved;
    this.#reserved = [];
    for (const connection of reserved) connection.begin();
  };
}
