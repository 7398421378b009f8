import type { Duplex } from 'node:stream';

/**
 * Hook for test rigs that simulate a broken network. Called once for each new connection, never for
 * a request. Without a Reach every connection is allowed.
 */
export interface Reach {
  /** Resolves when the address may be dialled; rejects in bounded time, as a failed dial. */
  admit(address: string): Promise<void>;
  /** Called with each open connection, which may be destroyed at any time. */
  opened(address: string, socket: Duplex): void;
}
