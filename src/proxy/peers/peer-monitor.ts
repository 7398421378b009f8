import type { Clock } from '../../base/clock.js';
import { READ_FAILURES, type ReadFailure } from '../../base/error-types.js';
import type { Logger } from '../../base/logger.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import { DeadlineError } from '../../http/deadline.js';
import { DiscoveryDocumentError } from '../../kube/discovery-documents.js';
import type { Surface } from '../../kube/surface.js';
import { lostSomething } from './surface-documents.js';
import { SurfaceReadError } from './surface-reader.js';
import type { TrackedEndpoint } from './tracked-endpoint.js';

export interface MonitorTimings {
  /** Interval between two reads of a healthy peer, before jitter. */
  readonly readEveryMs: number;
  /** Time without a reply on any endpoint after which a peer departed, even with a live lease. */
  readonly goneAfterMs: number;
  /** Time after which a peer that was never reached no longer turns 404 into 503. */
  readonly unreadGraceMs: number;
  /** Bound on the wait of `refresh`. */
  readonly refreshWaitMs: number;
}

export const MONITOR_TIMINGS: MonitorTimings = {
  readEveryMs: 2_000,
  goneAfterMs: 6_000,
  unreadGraceMs: 30_000,
  refreshWaitMs: 2_000,
};

/** Share of the interval by which probes are spread: many servers must not probe at once. */
const JITTER = 0.2;

export interface PeerMonitorOptions {
  readonly identity: string;
  readonly endpoints: readonly TrackedEndpoint[];
  /** Those of `endpoints` that are probed only while no other one answers. */
  readonly reserve?: ReadonlySet<TrackedEndpoint>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: MonitorTimings;
  readonly random: () => number;
  /** Called after a change that the peer table shows. */
  readonly onChange: () => void;
  /** Surface from before, when a server is sighted under a new name. */
  readonly inherited?: { readonly surface: Surface; readonly readAtMs: number } | undefined;
  /**
   * Time since which the server is sighted without a reply, also under another name or other
   * addresses; now if undefined.
   */
  readonly unreadSinceMs?: number | undefined;
  /** Starts in state `abandoned`: the server does not hold back 404s until it answers. */
  readonly abandoned?: boolean | undefined;
  readonly onReadFailed?: ((identity: string, type: ReadFailure) => void) | undefined;
}

/** Monitors one peer: one loop per endpoint, so that an endpoint that hangs delays no other. */
export class PeerMonitor {
  readonly identity: string;
  readonly endpoints: readonly TrackedEndpoint[];
  readonly #options: PeerMonitorOptions;
  readonly #loops: EndpointLoop[];
  /** Time since which the server is sighted and not read. */
  readonly unreadSinceMs: number;
  #surface: Surface | undefined;
  #readAtMs: number | undefined;
  #answeredAtMs: number;
  #state: PeerState = 'expected';
  #triedEndpoints = new Set<TrackedEndpoint>();
  #cancelGone = () => {};
  readonly #complaints = new Map<TrackedEndpoint, ReadFailure>();
  #cancelUnread = () => {};
  #closed = false;

  constructor(options: PeerMonitorOptions) {
    this.identity = options.identity;
    this.endpoints = options.endpoints;
    this.#options = options;
    this.unreadSinceMs = options.unreadSinceMs ?? options.clock.nowMs();
    this.#surface = options.inherited?.surface;
    this.#readAtMs = options.inherited?.readAtMs;
    this.#answeredAtMs = options.inherited?.readAtMs ?? options.clock.nowMs();
    if (this.#surface) this.#state = 'present';
    else if (options.abandoned) this.#state = 'abandoned';
    this.#loops = options.endpoints.map((endpoint) => new EndpointLoop(this, endpoint, options));
  }

  get state(): PeerState {
    return this.#state;
  }

  get surface(): Surface | undefined {
    return this.#surface;
  }

  get surfaceReadAtMs(): number | undefined {
    return this.#readAtMs;
  }

  /** Time of the last reply, or of the first sighting. */
  get answeredAtMs(): number {
    const reported = this.endpoints.map((endpoint) => endpoint.health.answeredAtMs ?? 0);
    return Math.max(this.#answeredAtMs, ...reported);
  }

  /** True if every endpoint was tried once, or the surface was read through one of them. */
  get tried(): boolean {
    return this.#readAtMs !== undefined || this.#triedEndpoints.size === this.endpoints.length;
  }

  start(): void {
    // Endpoints outlive monitors for a while, in which nobody saw whether the server was replaced.
    for (const { reader } of this.endpoints) reader.reconnected();
    for (const loop of this.#loops) loop.start();
    this.#watchForDeparture();
    if (this.#state !== 'expected') return;
    const { clock, timings } = this.#options;
    const leftMs = Math.max(0, this.unreadSinceMs + timings.unreadGraceMs - clock.nowMs());
    this.#cancelUnread = clock.after(leftMs, () => this.giveUpUnread());
  }

  close(): void {
    this.#closed = true;
    this.#cancelGone();
    this.#cancelUnread();
    for (const loop of this.#loops) loop.close();
  }

  /** Probes every endpoint as soon as its cool-down allows. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Resolves when a read that began after this call has ended, or after `refreshWaitMs`. */
  refresh(): Promise<void> {
    const reading = this.#loops[this.#readerIndex()]!.visitAnew();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(this.#options.timings.refreshWaitMs, resolve);
      reading.finally(() => {
        cancel();
        resolve();
      });
    });
  }

  /**
   * Returns whether a probe of this endpoint reads the surface: the first usable endpoint, those
   * preferred to it, or any while none is usable.
   */
  reads(endpoint: TrackedEndpoint): boolean {
    const usable = this.endpoints.find((candidate) => candidate.usable());
    return usable === undefined || this.endpoints.indexOf(endpoint) <= this.endpoints.indexOf(usable);
  }

  /**
   * Returns whether an endpoint is probed: one of the reserve while it answers itself, or once all others have failed. It is
   * said that nobody listens there, so a probe while others answer would only be a refused connection.
   */
  probes(endpoint: TrackedEndpoint): boolean {
    const { reserve } = this.#options;
    if (!reserve?.has(endpoint) || endpoint.usable()) return true;
    return this.endpoints.every((each) => reserve.has(each) || (this.#triedEndpoints.has(each) && !each.usable()));
  }

  /** Records that /readyz of an endpoint replied 200 before the surface was read. */
  answering(): void {
    if (this.#state === 'departed') this.#enter('returning');
    if (this.#state === 'abandoned') this.#enter('expected');
  }

  accept(surface: Surface): void {
    if (this.#closed) return;
    const { clock, logger } = this.#options;
    const changed = this.#surface !== surface || this.#state !== 'present';
    if (this.#state !== 'present')
      logger.info('peer is reachable and its discovery was read', {
        peer: this.identity,
        version: surface.kubernetesVersion,
      });
    this.#cancelUnread();
    this.#surface = surface;
    this.#readAtMs = clock.nowMs();
    this.#state = 'present';
    if (changed) this.#options.onChange();
  }

  visited(endpoint: TrackedEndpoint, error: unknown): void {
    if (this.#closed) return;
    const wasTried = this.tried;
    this.#triedEndpoints.add(endpoint);
    if (error === undefined) {
      this.#answeredAtMs = this.#options.clock.nowMs();
      this.#complaints.delete(endpoint);
    } else this.#afterFailure(endpoint, error);
    if (!wasTried && this.tried) this.#options.onChange();
  }

  /** Probes the endpoint that takes over, and starts the timer of the departure. */
  #afterFailure(endpoint: TrackedEndpoint, error: unknown): void {
    this.#options.onReadFailed?.(this.identity, failureOf(error));
    this.#complain(endpoint, error);
    if (this.#state === 'returning') this.#enter('departed');
    const next = this.endpoints.findIndex((candidate) => candidate !== endpoint && candidate.usable());
    if (next >= 0 && this.reads(this.endpoints[next]!)) this.#loops[next]!.wake();
    this.#wakeReserve(endpoint);
    this.#watchForDeparture();
  }

  #wakeReserve(failed: TrackedEndpoint): void {
    const { reserve } = this.#options;
    if (!reserve || reserve.has(failed)) return;
    for (const loop of this.#loops) if (reserve.has(loop.endpoint)) loop.wake();
  }

  /** Logs each type of failure of an endpoint once, until it has recovered. */
  #complain(endpoint: TrackedEndpoint, error: unknown): void {
    const failure = failureOf(error);
    if (this.#complaints.get(endpoint) === failure) return;
    this.#complaints.set(endpoint, failure);
    this.#options.logger.warn('discovery of a peer cannot be read', {
      peer: this.identity,
      address: endpoint.destination.address,
      why: error instanceof Error ? error.message : String(error),
      advice: READ_FAILURES[failure].advice,
    });
  }

  #watchForDeparture(): void {
    this.#cancelGone();
    this.#cancelGone = () => {};
    if (this.#closed || this.#state !== 'present' || this.endpoints.some((endpoint) => endpoint.usable())) return;
    const { clock, logger, timings } = this.#options;
    const leftMs = this.answeredAtMs + timings.goneAfterMs - clock.nowMs();
    if (leftMs > 0) {
      this.#cancelGone = clock.after(leftMs, () => this.#watchForDeparture());
      return;
    }
    const why = this.endpoints
      .map((endpoint) => `${endpoint.destination.address}: ${endpoint.health.lastError}`)
      .join('; ');
    logger.warn('peer departed: no reply at any of its addresses', {
      peer: this.identity,
      why,
      advice: goneAdvice(this.identity),
    });
    this.#enter('departed');
  }

  /** Abandons a server that was never reached. One that is reachable gets another grace period. */
  giveUpUnread(): void {
    if (this.#state !== 'expected') return;
    this.#cancelUnread();
    const reachable = this.endpoints.some((endpoint) => endpoint.health.answeredAtMs !== undefined);
    if (!reachable && !this.#answersNow()) {
      const why = this.endpoints.map((endpoint) => endpoint.health.lastError).join('; ');
      this.#options.logger.warn('peer unreachable since it was discovered; ignored until it replies', {
        peer: this.identity,
        why,
        advice: READ_FAILURES.unreachable.advice,
      });
      this.#enter('abandoned');
      return;
    }
    this.#cancelUnread = this.#options.clock.after(this.#options.timings.unreadGraceMs, () => this.giveUpUnread());
  }

  /**
   * Returns whether /readyz replied 200 to the last probe: a server with unreadable discovery may
   * still be the only one that serves a resource.
   */
  #answersNow(): boolean {
    return this.#loops.some((loop) => loop.ready);
  }

  #readerIndex(): number {
    const index = this.endpoints.findIndex((endpoint) => endpoint.usable());
    return Math.max(0, index);
  }

  #enter(state: PeerState): void {
    if (this.#closed || this.#state === state) return;
    this.#state = state;
    this.#options.onChange();
  }
}

/**
 * - expected: sighted, surface not read yet;
 * - present: surface read; replies, or has not been silent for `goneAfterMs` yet;
 * - departed: was present, does not reply any more;
 * - returning: was departed, is ready again, surface not read again yet;
 * - abandoned: sighted, but never reached during the time allowed.
 */
export type PeerState = 'expected' | 'present' | 'departed' | 'returning' | 'abandoned';

/** Probes one endpoint periodically. */
class EndpointLoop {
  readonly #monitor: PeerMonitor;
  readonly endpoint: TrackedEndpoint;
  readonly #options: PeerMonitorOptions;
  readonly #visits: RepeatedTask;
  #closed = false;
  /** The next probe follows at once, or at the end of the cool-down. */
  #again = false;
  /** The last probe found the server ready. */
  ready = false;

  constructor(monitor: PeerMonitor, endpoint: TrackedEndpoint, options: PeerMonitorOptions) {
    this.#monitor = monitor;
    this.endpoint = endpoint;
    this.#options = options;
    this.#visits = new RepeatedTask({
      clock: options.clock,
      run: () => this.#visit(),
      pauseMs: () => this.#pauseMs(),
    });
  }

  start(): void {
    this.endpoint.onFailure(() => {
      this.#monitor.visited(this.endpoint, new Error(this.endpoint.health.lastError));
      this.#visits.pause();
    });
    if (this.#monitor.probes(this.endpoint)) void this.#visits.now();
    else this.#visits.pause();
  }

  close(): void {
    this.#closed = true;
    void this.#visits.close();
  }

  wake(): void {
    this.#again = true;
    this.#visits.pause();
  }

  /** Probes from now on, after a probe that is in progress. */
  visitAnew(): Promise<void> {
    return this.#visits.anew();
  }

  #pauseMs(): number {
    const isAgain = this.#again;
    this.#again = false;
    if (!this.#monitor.probes(this.endpoint)) return this.#options.timings.readEveryMs;
    if (!this.endpoint.usable()) return this.endpoint.health.probeInMs();
    if (isAgain) return 0;
    const spread = 1 - JITTER + 2 * JITTER * this.#options.random();
    return this.#options.timings.readEveryMs * spread;
  }

  async #visit(): Promise<void> {
    if (!this.#monitor.probes(this.endpoint)) return;
    const { health } = this.endpoint;
    const failuresBefore = health.failureCount;
    try {
      await this.#probe();
      // Traffic that failed meanwhile is more recent than a probe that was sent before.
      if (this.#closed || health.failureCount !== failuresBefore) return;
      health.probed();
      this.#monitor.visited(this.endpoint, undefined);
    } catch (error) {
      if (this.#closed) return;
      this.endpoint.probeFailed(error);
      this.#monitor.visited(this.endpoint, error);
    }
  }

  async #probe(): Promise<void> {
    const monitor = this.#monitor;
    const { reader } = this.endpoint;
    const wasUsable = this.endpoint.usable();
    const reads = monitor.reads(this.endpoint);
    if (!wasUsable || !reads) {
      this.ready = false;
      await this.endpoint.checkReady();
      this.ready = true;
      if (!wasUsable && !this.#closed) monitor.answering();
    }
    if (!reads) return;
    let surface = await reader.read();
    if (wasUsable && monitor.surface && surface !== monitor.surface && lostSomething(monitor.surface, surface)) {
      // A server that was restarted between two probes has incomplete discovery at first: resources
      // count as removed only once it is ready.
      await this.endpoint.checkReady();
      surface = await reader.read();
    }
    if (!this.#closed) monitor.accept(surface);
  }
}

function goneAdvice(identity: string): string {
  return `nothing to do during an upgrade; if it will not come back, run: straddle forget ${identity}`;
}

function failureOf(error: unknown): ReadFailure {
  if (error instanceof DeadlineError) return 'timeout';
  if (error instanceof DiscoveryDocumentError) return 'malformed';
  if (error instanceof SurfaceReadError) return 'status';
  return 'unreachable';
}
