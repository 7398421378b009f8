import type { Socket } from 'node:net';
import { addressBlock } from '../address-block.js';
import type { ClientConnection } from '../exchange.js';
import { remoteAddressOf } from './client-connection.js';

export interface ConnectionBounds {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

/** Limit that caused a connection to be refused or displaced. */
export type ConnectionLimit = 'max-connections' | 'max-connections-per-address';

interface Entry {
  readonly key: string;
  readonly socket: Socket;
  readonly address: string;
  /** Set by the first request. */
  connection: ClientConnection | undefined;
  isUnused: boolean;
}

/** Connections from one address block; `displaceable` is ordered oldest first. */
interface AddressShare {
  count: number;
  readonly displaceable: Set<Entry>;
}

/**
 * Client connections, bounded in total and per address block. At a bound a new connection displaces
 * the oldest one without an authenticated request, from the same address block if that one is at
 * its bound: a client without credentials cannot keep others out.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #onLimit: (limit: ConnectionLimit) => void;
  readonly #entries = new Set<Entry>();
  /**
   * Entries by the addresses and ports of both ends, which a TLS socket shares with its TCP socket.
   * The newest connection wins if several have the same key: a connection that was reset before it
   * was accepted has no addresses, and a client may reuse a port.
   */
  readonly #byKey = new Map<string, Entry>();
  readonly #shares = new Map<string, AddressShare>();
  readonly #displaceable = new Set<Entry>();

  constructor(bounds: ConnectionBounds, onLimit: (limit: ConnectionLimit) => void) {
    this.#bounds = bounds;
    this.#onLimit = onLimit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a connection until it closes; returns false if it must be refused. */
  admit(socket: Socket): boolean {
    const { connectionsMax, connectionsPerAddressMax } = this.#bounds;
    const address = addressBlock(remoteAddressOf(socket));
    const share = this.#shares.get(address);
    if (share && share.count >= connectionsPerAddressMax) {
      this.#onLimit('max-connections-per-address');
      if (!this.#displaceOldest(share.displaceable)) return false;
    } else if (this.#entries.size >= connectionsMax) {
      this.#onLimit('max-connections');
      if (!this.#displaceOldest(this.#displaceable)) return false;
    }
    const entry: Entry = { key: connectionKey(socket), socket, address, connection: undefined, isUnused: true };
    this.#add(entry);
    socket.once('close', () => this.#remove(entry));
    return true;
  }

  /** Marks a connection as used by a request. */
  used(socket: Socket, connection: ClientConnection): void {
    const entry = this.#byKey.get(connectionKey(socket));
    if (!entry) return;
    entry.isUnused = false;
    entry.connection = connection;
  }

  /** Destroys connections without a request so far. */
  destroyUnused(): void {
    for (const { isUnused, socket } of this.#entries) if (isUnused) socket.destroy();
  }

  destroyAll(): void {
    for (const { socket } of this.#entries) socket.destroy();
  }

  /** Resolves when every connection is closed. */
  async allClosed(): Promise<void> {
    while (this.#entries.size > 0) {
      const [entry] = this.#entries;
      await new Promise<void>((resolve) => entry!.socket.once('close', () => resolve()));
    }
  }

  #add(entry: Entry): void {
    this.#entries.add(entry);
    this.#byKey.set(entry.key, entry);
    const share = this.#shares.get(entry.address) ?? { count: 0, displaceable: new Set() };
    this.#shares.set(entry.address, share);
    share.count += 1;
    share.displaceable.add(entry);
    this.#displaceable.add(entry);
  }

  #remove(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key);
    this.#displaceable.delete(entry);
    const share = this.#shares.get(entry.address)!;
    share.count -= 1;
    share.displaceable.delete(entry);
    if (share.count === 0) this.#shares.delete(entry.address);
  }

  #displaceOldest(candidates: Set<Entry>): boolean {
    for (const entry of candidates) {
      if (entry.connection?.authenticated) {
        candidates.delete(entry);
        continue;
      }
      this.#remove(entry);
      entry.socket.destroy();
      return true;
    }
    return false;
  }
}

/** Key of both ends: a client may use one local port for several addresses of this server. */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
