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
  /** For probes, and for the requests of a front door. */
  readonly tls: ProxyTls;
  readonly clock: Clock;
  /** The way to the servers; default: the network. */
  readonly reach?: Reach;
}

export interface DoorOptions extends BackendsOptions {
  readonly host: string;
  readonly port: number;
}

/** A load balancer before the servers of a control plane. */
export interface Door {
  /** Listens; resolves when every server has been probed. */
  start(): Promise<{ readonly port: number }>;
  /** Probes every server now; resolves when the results are in effect. */
  look(): Promise<void>;
  close(graceMs: number): Promise<void>;
}

/** The servers behind a door, probed at PROBE_INTERVAL_MS. */
export class Backends {
  readonly #all: readonly FrontDoorTarget[];
  readonly #straddleRequests = new StraddleRequests({ frontProxy: true, userHeader: 'X-Remote-User' });
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
        const verdict = await this.#straddleRequests.probeReady(backend.destination).catch(() => false);
        backend.ready = verdict === true;
      }),
    );
  }

  /** Returns the servers that are ready, in round-robin order. */
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
