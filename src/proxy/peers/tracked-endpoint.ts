import type { Clock } from '../../base/clock.js';
import { Deadline, DeadlineError, dropBody } from '../../http/deadline.js';
import type { Destination } from '../../http/outgoing.js';
import { isStraddlePage } from '../identity/straddle-mark.js';
import type { EndpointHealth } from './endpoint-health.js';
import type { PeerEndpoint } from './peer-table.js';
import type { SurfaceFetch, SurfaceReader } from './surface-reader.js';

export interface TrackedEndpointOptions {
  readonly kind: PeerEndpoint['kind'];
  readonly destination: Destination;
  readonly health: EndpointHealth;
  readonly reader: SurfaceReader;
  readonly fetch: SurfaceFetch;
  readonly clock: Clock;
  readonly readyTimeoutMs: number;
  /** A probe got no answer in time, so whoever waits for this server waits in vain. */
  readonly onHang?: ((endpoint: TrackedEndpoint, why: string) => void) | undefined;
}

/** One address with all that is known about it. Lives as long as the address is sighted, whatever server it counts to. */
export class TrackedEndpoint implements PeerEndpoint {
  readonly destination: Destination;
  readonly health: EndpointHealth;
  readonly reader: SurfaceReader;
  #kind: PeerEndpoint['kind'];
  readonly #fetch: SurfaceFetch;
  readonly #clock: Clock;
  readonly #readyTimeoutMs: number;
  readonly #onHang: TrackedEndpointOptions['onHang'];
  #verified = false;
  #onFailure: () => void = () => {};

  constructor(options: TrackedEndpointOptions) {
    this.#kind = options.kind;
    this.destination = options.destination;
    this.health = options.health;
    this.reader = options.reader;
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#readyTimeoutMs = options.readyTimeoutMs;
    this.#onHang = options.onHang;
  }

  /**
   * As sources have it until the server has answered, then by its answer: it decides on which connections callers'
   * credentials travel, and leases are no proof.
   */
  get kind(): PeerEndpoint['kind'] {
    return this.#kind;
  }

  /** A server that TLS verified has once said here that it is ready. */
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

  /** Who is told that traffic found it failing; the last to ask. */
  onFailure(listener: () => void): void {
    this.#onFailure = listener;
  }

  /** Fails unless the server says that it is ready: one that is starting shows only a part of what it will serve. */
  async checkReady(): Promise<void> {
    const deadline = new Deadline(this.#clock, this.#readyTimeoutMs, 'GET /readyz');
    try {
      const reply = await deadline.reply(
        this.#fetch('/readyz', ['accept', '*/*', 'accept-encoding', 'identity'], deadline.onAbort),
      );
      dropBody(reply, 'only the status counts');
      if (reply.status !== 200) throw new Error(`GET /readyz answered ${reply.status}`);
      this.#verified = true;
      this.#kind = isStraddlePage(reply.headers) ? 'straddle' : 'kube-apiserver';
    } finally {
      deadline.end();
    }
  }

  /** A probe failed. If the server hangs, whoever waits for it need not wait for their own time-out. */
  probeFailed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.health.failed(why);
    this.reader.reconnected();
    if (!(error instanceof DeadlineError)) return;
    this.destination.abandonWaiting(why);
    this.#onHang?.(this, why);
  }
}
