import type { Duplex } from 'node:stream';
import type { Reach } from '../../http/client/reach.js';

/** The connect timeout of servers. */
const HANG_MS_MAX = 3_000;

export interface Partition {
  readonly sides: readonly [ReadonlySet<string>, ReadonlySet<string>];
  readonly hangs: boolean;
}

interface Connection {
  readonly from: string;
  readonly to: string;
  readonly socket: Duplex;
}

/** Simulated network between members: decides which connections are made, by the names of both ends. */
export class Network {
  readonly #names = new Map<string, string>();
  readonly #partitions = new Set<Partition>();
  readonly #down = new Set<string>();
  readonly #connections = new Set<Connection>();
  /** Connection attempts that hang; called again when a partition ends. */
  readonly #hanging = new Set<() => void>();
  readonly #hangMsMax: number;

  constructor(hangMsMax = HANG_MS_MAX) {
    this.#hangMsMax = hangMsMax;
  }

  join(name: string, address: string): void {
    this.#names.set(address, name);
  }

  reachFrom(from: string): Reach {
    return {
      admit: (address) => this.#admit(from, address),
      opened: (address, socket) => this.#opened(from, address, socket),
    };
  }

  passes(from: string, to: string): boolean {
    return !this.#down.has(from) && this.#between(from, to).length === 0;
  }

  /** Begins a partition; returns a function that ends it. */
  part(partition: Partition): () => void {
    this.#partitions.add(partition);
    this.#cut();
    return () => {
      this.#partitions.delete(partition);
      this.#wake();
    };
  }

  /** Cuts all connections of a member, and refuses new ones from it. */
  silence(name: string): void {
    this.#down.add(name);
    this.#cut();
    this.#wake();
  }

  unsilence(name: string): void {
    this.#down.delete(name);
  }

  /** Ends all partitions and the attempts that hang. */
  close(): void {
    this.#partitions.clear();
    this.#wake();
  }

  async #admit(from: string, address: string): Promise<void> {
    const to = this.#names.get(address);
    if (to === undefined || this.passes(from, to)) return;
    if (this.#between(from, to).some(({ hangs }) => hangs)) await this.#hang(from, to, address);
    else throw connectionError('ECONNREFUSED', address);
  }

  #hang(from: string, to: string, address: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.#down.has(from)) settle(() => reject(connectionError('ECONNREFUSED', address)));
        else if (this.passes(from, to)) settle(resolve);
      };
      const timer = setTimeout(() => settle(() => reject(connectionError('ETIMEDOUT', address))), this.#hangMsMax);
      timer.unref();
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        this.#hanging.delete(look);
        end();
      };
      this.#hanging.add(look);
    });
  }

  #opened(from: string, address: string, socket: Duplex): void {
    const to = this.#names.get(address);
    if (to === undefined) return;
    const connection = { from, to, socket };
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
    // The attempt may have begun before the partition.
    if (!this.passes(from, to)) socket.destroy(connectionError('ECONNRESET', address));
  }

  #cut(): void {
    for (const { from, to, socket } of [...this.#connections]) {
      if (!this.passes(from, to)) socket.destroy(new Error(`the connection to ${to} was cut`));
    }
  }

  #wake(): void {
    for (const look of [...this.#hanging]) look();
  }

  #between(one: string, other: string): Partition[] {
    return [...this.#partitions].filter(({ sides: [left, right] }) => {
      return (left.has(one) && right.has(other)) || (left.has(other) && right.has(one));
    });
  }
}

function connectionError(code: 'ECONNREFUSED' | 'ECONNRESET' | 'ETIMEDOUT', address: string): Error {
  return Object.assign(new Error(`connect ${code} ${address}`), { code });
}
