import type { ApiServer } from '../../apiserver/api-server.js';
import { withTokens } from '../../apiserver/authentication/request-user.js';
import type { Authenticate } from '../../http/authenticate.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import type { SurfaceFetch } from '../peers/surface-reader.js';
import type { Host } from './host.js';

export interface EmbeddedHostOptions {
  readonly server: ApiServer;
  /** The server's connections to webhooks and aggregated API servers. Closed with the host. */
  readonly outbound: { renew(): void; close(): Promise<void> };
  /** The server's storage. Closed with the host. */
  readonly store: { close(): Promise<void> };
}

/** Straddle's own API server, in this process. Ready from its start to its end. */
export class EmbeddedHost implements Host {
  readonly readsBodies = true;
  readonly advertisedAddress = undefined;
  readonly furtherAddresses = [];
  readonly #options: EmbeddedHostOptions;
  #ready = false;

  constructor(options: EmbeddedHostOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#options.server.start();
    this.#ready = true;
  }

  ready(): boolean {
    return this.#ready;
  }

  handle = (exchange: Exchange): Promise<Reply> => this.#options.server.handle(exchange);

  fetch: SurfaceFetch = (path, headers, onAbort) =>
    this.#options.server.client.send('GET', path, headers, null, onAbort);

  onSurfaceChange = (listener: () => void): void => this.#options.server.onSurfaceChange(listener);

  /** Adds the tokens that the server issues and those of its token file. */
  authenticate(fromConnection: Authenticate): Authenticate {
    return withTokens(fromConnection, this.#options.server.tokens);
  }

  renew(): void {
    this.#options.outbound.renew();
  }

  sever = (): void => void this.#options.store.close();

  async close(): Promise<void> {
    const { server, outbound, store } = this.#options;
    this.#ready = false;
    await server.close();
    await outbound.close();
    await store.close();
  }
}
