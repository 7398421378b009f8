import type { Duplex } from 'node:stream';

/**
 * Stands between a server and the network, for rigs that play a broken one. Asked once for each new connection, never for
 * a request; without one, connections are simply made.
 */
export interface Reach {
  /** Resolves when the address may be dialled; rejects, after a bounded time, as a connection that fails would. */
  admit(address: string): Promise<void>;
  /** A connection stands, and may be destroyed at any time. */
  opened(address: string, socket: Duplex): void;
}
