import type { Reach } from '../../transport/reach.js';
import type { ConnectionTls } from '../tls/connection-tls.js';
import { PooledDestination } from './pooled-destination.js';

/** A server that does not take a connection in this time is tried elsewhere. */
const CONNECT_TIMEOUT_MS = 3_000;
/** kube-apiserver keeps idle connections for three minutes; closing well before avoids sending into a closed one. */
const KEEP_ALIVE_MS = 60_000;

/** Makes destinations that share one source of certificates, and renews them all when that changes. */
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

  /** Certificates changed: connections made from now on use the new ones. */
  renew(): void {
    for (const destination of this.#made) destination.replaceTls(this.#tls());
  }
}
