import type { Clock } from '../../base/clock.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import { Destinations } from '../../http/client/destinations.js';
import type { Reach } from '../../http/client/reach.js';
import type { Destination } from '../../http/outgoing.js';
import { PROBE_INTERVAL_MS, PROBE_TIMEOUT_MS } from '../../http/server-health.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import { wholeReply } from '../../http/whole-reply.js';
import { compareServerVersions, isServerVersion } from '../../kube/kube-version.js';
import { readServerVersion, VERSION_DOCUMENT_BYTES_MAX } from '../../kube/server-version.js';
import { StraddleRequests } from '../../proxy/identity/straddle-requests.js';

export interface FrontDoorTarget {
  readonly destination: Destination;
  ready: boolean;
  /** `v1.36.4`, read when the server became ready; empty if unknown. */
  version: string;
}

export interface BackendsOptions {
  /** host:port of each server. */
  readonly servers: readonly string[];
  /** For probes, and for the requests of a front door. */
  readonly tls: ProxyTls;
  readonly clock: Clock;
  /** The way to the servers; default: the network. */
  readonly reach?: Reach;
  /** Whether probes read the version of each server too. */
  readonly readsVersions?: boolean;
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
  readonly #clock: Clock;
  readonly #readsVersions: boolean;
  #next = 0;
  /** The server whose page was shown last. */
  #shown: FrontDoorTarget | undefined;

  constructor({ servers, tls, clock, reach, readsVersions = false }: BackendsOptions) {
    const destinations = new Destinations(() => tls.peerTls(), reach);
    this.#all = servers.map((address) => ({
      destination: destinations.make(address),
      ready: false,
      version: '',
    }));
    this.#clock = clock;
    this.#readsVersions = readsVersions;
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
        // Read each time: a server may be replaced by one of another version between two probes.
        if (verdict === true && this.#readsVersions) backend.version = await this.#readVersion(backend);
        backend.ready = verdict === true;
      }),
    );
  }

  /** Returns the version of a server; the last one if it cannot be read. */
  async #readVersion({ destination, version }: FrontDoorTarget): Promise<string> {
    const fetch = this.#straddleRequests.fetchFrom(destination);
    const limits = { clock: this.#clock, timeoutMs: PROBE_TIMEOUT_MS, bytesMax: VERSION_DOCUMENT_BYTES_MAX };
    try {
      const { status, body } = await wholeReply(
        (onAbort) => fetch('/version', [], onAbort),
        limits,
        'reading /version',
      );
      return (status === 200 ? readServerVersion(body)?.gitVersion : undefined) ?? version;
    } catch {
      return version;
    }
  }

  /** Returns whether a server (host:port) was ready when it was probed last. */
  isReady(address: string): boolean {
    return this.#all.some(({ destination, ready }) => ready && destination.address === address);
  }

  /** Returns the servers that are ready, in round-robin order. */
  inTurn(): FrontDoorTarget[] {
    const ready = this.#all.filter((each) => each.ready);
    if (ready.length === 0) return [];
    const first = this.#next++ % ready.length;
    return [...ready.slice(first), ...ready.slice(0, first)];
  }

  /**
   * Returns the servers that are ready, those of the oldest version first; one of unknown version last. The order is the
   * same each time, so that clients are shown one version while servers are upgraded.
   */
  oldestFirst(): FrontDoorTarget[] {
    const ready = this.#all.filter((each) => each.ready);
    return ready.sort(
      (a, b) =>
        Number(isServerVersion(b.version)) - Number(isServerVersion(a.version)) ||
        compareServerVersions(b.version, a.version),
    );
  }

  /**
   * Returns the servers that are ready, first the one whose page was shown last: what a Straddle has recorded is lost with it. At
   * first that is one of the newest version, which an upgrade replaces last or not at all.
   */
  forPage(): FrontDoorTarget[] {
    const ready = this.#all.filter((each) => each.ready);
    const newest = [...ready].sort((a, b) => compareServerVersions(a.version, b.version))[0];
    const shown = ready.find((each) => each === this.#shown) ?? newest;
    this.#shown = shown;
    return shown === undefined ? [] : [shown, ...ready.filter((each) => each !== shown)];
  }

  async close(): Promise<void> {
    void this.#probes.close();
    await Promise.all(this.#all.map(({ destination }) => destination.close()));
  }
}
