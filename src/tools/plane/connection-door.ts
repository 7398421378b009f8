import { connect, createServer, type Server, type Socket } from 'node:net';
import { parseHostPort } from '../../base/address.js';
import type { Clock } from '../../base/clock.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import { Backends, type FrontDoorTarget } from './backends.js';
import type { Door } from './door.js';

export interface ConnectionDoorOptions {
  readonly host: string;
  readonly port: number;
  /** host:port of each API server. */
  readonly servers: readonly string[];
  /** Only to ask servers how they are: what is carried is encrypted from end to end. */
  readonly tls: ProxyTls;
  readonly clock: Clock;
}

const CONNECT_TIMEOUT_MS = 3_000;
const CONNECTIONS_MAX = 10_000;

/**
 * Balances connections, as a network load balancer does: each goes to the next server that is ready and stays there, so a
 * client that keeps its connection sees one server until that one goes.
 */
export class ConnectionDoor implements Door {
  readonly #options: ConnectionDoorOptions;
  readonly #backends: Backends;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  constructor(options: ConnectionDoorOptions) {
    this.#options = options;
    this.#backends = new Backends(options);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => void this.#carry(client));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  async start(): Promise<{ readonly port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    await this.#backends.look();
    return { port: (this.#server.address() as { port: number }).port };
  }

  look(): Promise<void> {
    return this.#backends.look();
  }

  /** What is carried may end by itself for so long. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const cut = setTimeout(() => {
      for (const each of this.#open) each.destroy();
    }, graceMs);
    await closed;
    clearTimeout(cut);
    await this.#backends.close();
  }

  async #carry(client: Socket): Promise<void> {
    this.#keep(client);
    for (const backend of this.#backends.inTurn()) {
      const server = await dial(backend);
      if (!server) continue;
      if (client.destroyed) return void server.destroy();
      this.#keep(server);
      // Either side's end is told to the other; a side that breaks breaks the other.
      client.pipe(server).pipe(client);
      client.once('close', () => server.destroy());
      server.once('close', () => client.destroy());
      return;
    }
    client.destroy();
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
  }
}

function dial(backend: FrontDoorTarget): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const address = parseHostPort(backend.destination.address);
    const socket = connect({ ...address, allowHalfOpen: true, noDelay: true });
    const giveUp = (): void => {
      backend.ready = false;
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, giveUp);
    socket.once('error', giveUp);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', giveUp);
      resolve(socket);
    });
  });
}
