import type { ConnectionTls } from '../tls/connection-tls.js';
import { PooledDestination } from './pooled-destination.js';
import type { Reach } from './reach.js';

/** Connect timeout, after which the request is tried on another server. */
const CONNECT_TIMEOUT_MS = 3_000;
/** Below the three minutes for which kube-apiserver keeps idle connections open. */
const KEEP_ALIVE_MS = 60_000;

/** Creates destinations with one source of certificates, and updates them when it changes. */
export class Destinations {
  readonly #tls: () => ConnectionTls;
  readonly #reach: Reach | undefined;
  readonly #made = new Set<PooledDestination>();

  constructor(tls: () => ConnectionTls, reach?: Reach) {
    this.#tls = tls;
    this.#reach = reach;
  }

  make(address: string): PooledDestination {
    const destination = new PooledDestination({
      address,
      tls: this.#tls(),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      onClose: () => this.#made.delete(destination),
      ...(this.#reach === undefined ? {} : { reach: this.#reach }),
    });
    this.#made.add(destination);
    return destination;
  }

  /** Called after the certificates changed: new connections use the new ones. */
  renew(): void {
    for (const destination of this.#made) destination.replaceTls(this.#tls());
  }
}
