import type { Clock } from '../../base/clock.js';
import { DeadlineError } from '../../http/deadline.js';
import type { Destination } from '../../http/outgoing.js';
import { probeReadyz } from '../../http/server-health.js';
import { isStraddlePage } from '../identity/straddle-mark.js';
import type { EndpointHealth } from './endpoint-health.js';
import type { PeerEndpoint } from './peer-table.js';
import { type SurfaceFetch, SurfaceReadError, type SurfaceReader } from './surface-reader.js';

export interface TrackedEndpointOptions {
  readonly kind: PeerEndpoint['kind'];
  readonly destination: Destination;
  readonly health: EndpointHealth;
  readonly reader: SurfaceReader;
  readonly fetch: SurfaceFetch;
  readonly clock: Clock;
  readonly readyTimeoutMs: number;
  /** Called after a probe timed out and before the next one, so that requests waiting for this server can be failed. */
  readonly onHang?: ((endpoint: TrackedEndpoint, why: string) => void) | undefined;
}

/**
 * One address with its health, reader and connections. Lives as long as the address is sighted,
 * also when it moves to another server.
 */
export class TrackedEndpoint implements PeerEndpoint {
  readonly destination: Destination;
  readonly health: EndpointHealth;
  readonly reader: SurfaceReader;
  readonly #options: TrackedEndpointOptions;
  #kind: PeerEndpoint['kind'];
  #verified = false;
  /** Why the last probe failed, if it timed out. */
  #hangs: string | undefined;
  #onFailure: () => void = () => {};

  constructor(options: TrackedEndpointOptions) {
    this.#options = options;
    this.#kind = options.kind;
    this.destination = options.destination;
    this.health = options.health;
    this.reader = options.reader;
  }

  /**
   * As in the sightings until the server has replied to a probe, then as in its reply: `kind`
   * decides on which connections callers' credentials are sent, and leases are not trusted for
   * that.
   */
  get kind(): PeerEndpoint['kind'] {
    return this.#kind;
  }

  /** True after /readyz of a server verified by TLS has replied 200 at this address. */
  get verified(): boolean {
    return this.#verified;
  }

  usable(): boolean {
    return this.health.usable();
  }

  report(outcome: 'answered' | 'failed', why = 'a request failed'): void {
    if (outcome === 'answered') {
      this.health.answered();
      return;
    }
    const wasUsable = this.health.usable();
    this.health.failed(why);
    if (wasUsable) this.#onFailure();
  }

  /** Sets the listener for failures reported by traffic; replaces the previous one. */
  onFailure(listener: () => void): void {
    this.#onFailure = listener;
  }

  /** Rejects unless /readyz replies 200: during start, discovery of a server is incomplete. */
  async checkReady(): Promise<void> {
    if (this.#hangs !== undefined) this.#endWaiting(this.#hangs);
    const { fetch, clock, readyTimeoutMs } = this.#options;
    const get: Parameters<typeof probeReadyz>[0] = (path, onAbort) =>
      fetch(path, ['accept', '*/*', 'accept-encoding', 'identity'], onAbort);
    const { status, headers } = await probeReadyz(get, clock, readyTimeoutMs);
    this.#hangs = undefined;
    if (status !== 200) throw new SurfaceReadError('/readyz', status, '');
    this.#verified = true;
    this.#kind = isStraddlePage(headers) ? 'straddle' : 'kube-apiserver';
  }

  /** Records a failed probe. After a timeout, requests that wait for the server and that another one could take are failed. */
  probeFailed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.health.failed(why);
    this.reader.reconnected();
    this.#hangs = error instanceof DeadlineError ? why : undefined;
    if (this.#hangs !== undefined) this.#endWaiting(why);
  }

  #endWaiting(why: string): void {
    this.destination.abandonWaiting(why);
    this.#options.onHang?.(this, why);
  }
}
