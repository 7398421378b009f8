import { connect, createServer, type Server, type Socket } from 'node:net';
import { parseHostPort } from '../../base/address.js';
import { Backends, type Door, type DoorOptions, type FrontDoorTarget } from './backends.js';

const CONNECT_TIMEOUT_MS = 3_000;
const CONNECTIONS_MAX = 10_000;

/**
 * Balances connections, as a network load balancer does: each goes to the next server that is ready,
 * so a client with keep-alive sees one server until that one stops. TLS is end to end between client and server.
 */
export class ConnectionDoor implements Door {
  readonly #options: DoorOptions;
  readonly #backends: Backends;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  constructor(options: DoorOptions) {
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

  /** Waits up to `graceMs` for open connections to end. */
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
      // A half-close is passed on by the pipes; a broken side destroys the other.
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
