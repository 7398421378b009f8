import type { Socket } from 'node:net';
import { addressBlock } from '../address-block.js';
import type { ClientConnection } from '../exchange.js';

export interface ConnectionBounds {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

/** The limit that a connection was refused or displaced for. */
export type ConnectionLimit = 'max-connections' | 'max-connections-per-address';

interface Entry {
  readonly key: string;
  readonly socket: Socket;
  readonly address: string;
  /** Known from the first request on. */
  connection: ClientConnection | undefined;
  isUnused: boolean;
}

/** The connections from one address block, and those of them that may be displaced, oldest first. */
interface AddressShare {
  count: number;
  readonly displaceable: Set<Entry>;
}

/**
 * The client connections, bounded in all and for each address. At a bound a new connection displaces the oldest one on
 * which nobody has been authenticated so far, from the same address where that address is at its bound: a caller without
 * credentials cannot keep others out.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #onLimit: (limit: ConnectionLimit) => void;
  readonly #entries = new Set<Entry>();
  /**
   * By the addresses of both ends, which a TLS socket has in common with the one below it. The latest connection where
   * several have the same: one whose client reset it at once has none, and a client may use a port again.
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

  /** Adds a connection until it closes; false where it has to be refused. */
  admit(socket: Socket): boolean {
    const { connectionsMax, connectionsPerAddressMax } = this.#bounds;
    const address = addressBlock((socket.remoteAddress ?? '').replace(/^::ffff:/, ''));
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

  /** The connection has made a request. */
  used(socket: Socket, connection: ClientConnection): void {
    const entry = this.#byKey.get(connectionKey(socket));
    if (!entry) return;
    entry.isUnused = false;
    entry.connection = connection;
  }

  /** Closes connections that have made no request so far. */
  destroyUnused(): void {
    for (const { isUnused, socket } of this.#entries) if (isUnused) socket.destroy();
  }

  destroyAll(): void {
    for (const { socket } of this.#entries) socket.destroy();
  }

  /** Resolves when no connection is left. */
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

/** Both ends: a client may use one port of its own for several addresses of this server. */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
