import type { Clock } from '../../base/clock.js';
import type { Destination } from '../../http/outgoing.js';
import type { CoolDownBounds } from '../../http/server-health.js';
import { EndpointHealth } from './endpoint-health.js';
import type { SightedEndpoint } from './sightings.js';
import { type SurfaceFetch, SurfaceReader } from './surface-reader.js';
import { TrackedEndpoint } from './tracked-endpoint.js';

export interface EndpointPoolOptions {
  makeDestination(endpoint: SightedEndpoint): Destination;
  /** Returns the function that sends requests there with Straddle's identity. */
  makeFetch(destination: Destination, kind: SightedEndpoint['kind']): SurfaceFetch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly readTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /**
   * Time that connections to an address stay open after it was last sighted, so that replies in
   * flight can finish.
   */
  readonly lingerMs: number;
  readonly healthBounds?: Partial<CoolDownBounds> | undefined;
  readonly onHealth?: (() => void) | undefined;
  readonly onHang?: ((endpoint: TrackedEndpoint, why: string) => void) | undefined;
}

/**
 * Endpoints by address, kept while sighted, so that regrouping addresses into servers loses neither
 * connections nor health.
 */
export class EndpointPool {
  readonly #options: EndpointPoolOptions;
  readonly #endpoints = new Map<string, TrackedEndpoint>();
  readonly #lingering = new Map<string, () => void>();
  readonly #closing = new Set<Promise<void>>();

  constructor(options: EndpointPoolOptions) {
    this.#options = options;
  }

  get(sighted: SightedEndpoint): TrackedEndpoint {
    const key = keyOf(sighted);
    this.#lingering.get(key)?.();
    this.#lingering.delete(key);
    let endpoint = this.#endpoints.get(key);
    if (!endpoint) {
      endpoint = this.#make(sighted);
      this.#endpoints.set(key, endpoint);
    }
    return endpoint;
  }

  /** Closes endpoints that are not in `sighted`, after `lingerMs`. */
  retain(sighted: readonly SightedEndpoint[]): void {
    const kept = new Set(sighted.map(keyOf));
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

  #close(endpoint: TrackedEndpoint): void {
    const closed = endpoint.destination
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #make(sighted: SightedEndpoint): TrackedEndpoint {
    const { clock, random, readTimeoutMs, readyTimeoutMs, healthBounds, onHealth: onChange, onHang } = this.#options;
    const destination = this.#options.makeDestination(sighted);
    const fetch = this.#options.makeFetch(destination, sighted.kind);
    const health = new EndpointHealth({ clock, random, onChange, ...(healthBounds ? { bounds: healthBounds } : {}) });
    const reader = new SurfaceReader({ fetch, clock, timeoutMs: readTimeoutMs });
    const { kind } = sighted;
    return new TrackedEndpoint({ kind, destination, health, reader, fetch, clock, readyTimeoutMs, onHang });
  }
}

function keyOf(sighted: SightedEndpoint): string {
  return `${sighted.kind} ${sighted.address}`;
}
