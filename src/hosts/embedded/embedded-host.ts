import type { ApiServer } from '../../apiserver/api-server.js';
import type { Host } from '../../core/host.js';
import type { Exchange, Reply } from '../../http/exchange.js';

/** An API server in this process. Ready from its start to its end. */
export class EmbeddedHost implements Host {
  readonly readsBodies = true;
  readonly #server: ApiServer;
  readonly #closeStore: () => Promise<void>;
  #ready = false;

  constructor(server: ApiServer, closeStore: () => Promise<void>) {
    this.#server = server;
    this.#closeStore = closeStore;
  }

  async start(): Promise<void> {
    await this.#server.start();
    this.#ready = true;
  }

  ready(): boolean {
    return this.#ready;
  }

  handle = (exchange: Exchange): Promise<Reply> => this.#server.handle(exchange);

  async close(): Promise<void> {
    this.#ready = false;
    await this.#server.close();
    await this.#closeStore();
  }
}
