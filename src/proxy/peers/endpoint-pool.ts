import type { Clock } from '../../base/clock.js';
import type { Destination } from '../../http/outgoing.js';
import type { PeerEndpoint } from './peer-table.js';

/** An address and the kind of server there. */
export interface EndpointName {
  readonly kind: PeerEndpoint['kind'];
  readonly address: string;
  /** Nobody is said to listen there: it is tried only while no other address of the server answers. */
  readonly isReserve?: true;
}

export function endpointKey({ kind, address }: EndpointName): string {
  return `${kind} ${address}`;
}

/** Time that connections stay open after their address was last named: replies in flight can finish. */
export const LINGER_MS = 30_000;

export interface EndpointPoolOptions<Endpoint> {
  readonly make: (name: EndpointName) => Endpoint;
  readonly clock: Clock;
  readonly lingerMs: number;
}

/**
 * Endpoints by address, kept while named, so that regrouping addresses into servers loses neither
 * connections nor health.
 */
export class EndpointPool<Endpoint extends { readonly destination: Destination }> {
  readonly #options: EndpointPoolOptions<Endpoint>;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #lingering = new Map<string, () => void>();
  readonly #closing = new Set<Promise<void>>();

  constructor(options: EndpointPoolOptions<Endpoint>) {
    this.#options = options;
  }

  find(name: EndpointName): Endpoint | undefined {
    return this.#endpoints.get(endpointKey(name));
  }

  /** Returns the endpoint of this name, a new one if there is none. */
  get(name: EndpointName): Endpoint {
    const key = endpointKey(name);
    this.#lingering.get(key)?.();
    this.#lingering.delete(key);
    let endpoint = this.#endpoints.get(key);
    if (!endpoint) {
      endpoint = this.#options.make(name);
      this.#endpoints.set(key, endpoint);
    }
    return endpoint;
  }

  /** Closes endpoints that are not in `named`, after `lingerMs`. */
  retain(named: readonly EndpointName[]): void {
    const kept = new Set(named.map(endpointKey));
    for (const [key, endpoint] of this.#endpoints) {
      if (kept.has(key) || this.#lingering.has(key)) continue;
      const cancel = this.#options.clock.after(this.#options.lingerMs, () => {
        this.#lingering.delete(key);
        this.#endpoints.delete(key);
        this.#close(endpoint);
      });
      this.#lingering.set(key, cancel);
    }
  }

  async close(): Promise<void> {
    for (const cancel of this.#lingering.values()) cancel();
    this.#lingering.clear();
    for (const endpoint of this.#endpoints.values()) this.#close(endpoint);
    this.#endpoints.clear();
    await Promise.all(this.#closing);
  }

  #close({ destination }: Endpoint): void {
    const closed = destination
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
