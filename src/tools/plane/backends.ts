import type { Clock } from '../../base/clock.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import { Destinations } from '../../http/client/destinations.js';
import type { Reach } from '../../http/client/reach.js';
import type { Destination } from '../../http/outgoing.js';
import { PROBE_INTERVAL_MS } from '../../http/server-health.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import { StraddleRequests } from '../../proxy/identity/straddle-requests.js';

export interface FrontDoorTarget {
  readonly destination: Destination;
  ready: boolean;
}

export interface BackendsOptions {
  /** host:port of each server. */
  readonly servers: readonly string[];
  readonly tls: ProxyTls;
  readonly clock: Clock;
  /** How the servers are reached, where that is not simply the network. */
  readonly reach?: Reach;
}

/** The servers behind a front door, probed at PROBE_INTERVAL_MS. */
export class Backends {
  readonly #all: readonly FrontDoorTarget[];
  readonly #own = new StraddleRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
  readonly #probes: RepeatedTask;
  #next = 0;

  constructor({ servers, tls, clock, reach }: BackendsOptions) {
    const destinations = new Destinations(() => tls.peerTls(), reach);
    this.#all = servers.map((address) => ({ destination: destinations.make(address), ready: false }));
    this.#probes = new RepeatedTask({ clock, run: () => this.#probeAll(), pauseMs: () => PROBE_INTERVAL_MS });
  }

  /** Probes every server now; resolves when all have answered or failed. */
  look(): Promise<void> {
    return this.#probes.anew();
  }

  async #probeAll(): Promise<void> {
    await Promise.all(
      this.#all.map(async (backend) => {
        const verdict = await this.#own.probeReady(backend.destination).catch(() => false);
        backend.ready = verdict === true;
      }),
    );
  }

  /** Those that are ready, another one first each time. */
  inTurn(): FrontDoorTarget[] {
    const ready = this.#all.filter((each) => each.ready);
    if (ready.length === 0) return [];
    const first = this.#next++ % ready.length;
    return [...ready.slice(first), ...ready.slice(0, first)];
  }

  async close(): Promise<void> {
    void this.#probes.close();
    await Promise.all(this.#all.map(({ destination }) => destination.close()));
  }
}
