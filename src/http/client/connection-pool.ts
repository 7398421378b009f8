import type { DeadlineSweep } from './deadline-sweep.js';
import type { Dialler } from './dialler.js';
import type { Http1Attempt } from './http1-attempt.js';
import { type ConnectionHome, Http1Connection } from './http1-connection.js';

export interface ConnectionPoolOptions {
  readonly dialler: Dialler;
  readonly keepAliveMs: number;
  /** Its members are all connections that stand or are being made, of this pool and of others. */
  readonly sweep: DeadlineSweep<Http1Connection>;
}

/**
 * Connections to one server, one request at a time on each. The one used last is used next, so that a quiet time closes
 * those that a busy one had needed. Taking one costs the same however many are busy.
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
    // The server may have closed an idle connection, or said on it what nobody asked: that is heard before anything is
    // written, or it would be taken for the answer.
    if (this.#reserved.push(free) === 1) setImmediate(this.#begin);
  }

  freed(connection: Http1Connection): void {
    if (this.#closing) void connection.destroy('no longer used');
    else this.#free.push(connection);
  }

  lost(connection: Http1Connection, unbegun: Http1Attempt | undefined): void {
    this.sweep.members.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    if (unbegun) this.send(unbegun);
  }

  /** What is under way ends well, the connections close after it. */
  close(): void {
    this.#closing = true;
    for (const connection of this.#free.splice(0)) void connection.destroy('no longer used');
  }

  #begin = (): void => {
    const reserved = this.#reserved;
    this.#reserved = [];
    for (const connection of reserved) connection.begin();
  };
}
