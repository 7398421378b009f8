import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.js';
import { addressBlock } from '../address-block.js';
import type { ClientConnection } from '../exchange.js';
import { remoteAddressOf } from './client-connection.js';

export interface ConnectionBounds {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

/**
 * Time that a connection has to authenticate before a newcomer may displace it. Without it, a flood
 * would displace every other client between the TLS handshake and the first request.
 */
export const DISPLACEABLE_AFTER_MS = 1_000;

/** Result of `admit`; `retryMs` is the time after which a connection may be displaced for the new one. */
export type Admission = 'admitted' | 'refused' | { readonly retryMs: number };

/** Limit that caused a connection to be refused or displaced. */
export type ConnectionLimit = 'max-connections' | 'max-connections-per-address';

interface Entry {
  readonly key: string;
  readonly socket: Socket;
  readonly address: string;
  readonly admittedAtMs: number;
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
 * its bound: a client without credentials cannot keep others out. A connection that had less than
 * `DISPLACEABLE_AFTER_MS` to authenticate is not displaced; the new one has to wait.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
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

  constructor(bounds: ConnectionBounds, clock: Clock, onLimit: (limit: ConnectionLimit) => void) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#onLimit = onLimit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a connection until it closes, unless it must wait or be refused. */
  admit(socket: Socket): Admission {
    const address = addressBlock(remoteAddressOf(socket));
    const admission = this.#makeRoom(this.#shares.get(address));
    if (admission !== 'admitted') return admission;
    const key = connectionKey(socket);
    const admittedAtMs = this.#clock.nowMs();
    const entry: Entry = { key, socket, address, admittedAtMs, connection: undefined, isUnused: true };
    this.#add(entry);
    socket.once('close', () => this.#remove(entry));
    return 'admitted';
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

  #makeRoom(share: AddressShare | undefined): Admission {
    const { connectionsMax, connectionsPerAddressMax } = this.#bounds;
    if (share && share.count >= connectionsPerAddressMax) {
      return this.#displaceOldest(share.displaceable, 'max-connections-per-address');
    }
    if (this.#entries.size >= connectionsMax) return this.#displaceOldest(this.#displaceable, 'max-connections');
    return 'admitted';
  }

  #displaceOldest(candidates: Set<Entry>, limit: ConnectionLimit): Admission {
    for (const entry of candidates) {
      if (entry.connection?.authenticated) {
        candidates.delete(entry);
        continue;
      }
      const ageMs = this.#clock.nowMs() - entry.admittedAtMs;
      // A negative age means that the clock was set back.
      if (ageMs >= 0 && ageMs < DISPLACEABLE_AFTER_MS) return { retryMs: DISPLACEABLE_AFTER_MS - ageMs };
      this.#onLimit(limit);
      this.#remove(entry);
      entry.socket.destroy();
      return 'admitted';
    }
    this.#onLimit(limit);
    return 'refused';
  }
}

/** Key of both ends: a client may use one local port for several addresses of this server. */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
