import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { DeadlineError } from '../../http/deadline.js';
import { lostSomething, SurfaceDocumentError } from '../../kube/discovery-documents.js';
import type { Surface } from '../../kube/surface.js';
import { SurfaceReadError } from './surface-reader.js';
import type { TrackedEndpoint } from './tracked-endpoint.js';

export interface MonitorTimings {
  /** Between two reads of a healthy peer, before jitter. */
  readonly readEveryMs: number;
  /** Unreachable on all its endpoints for this long, a peer counts as departed, whatever its lease says. */
  readonly goneAfterMs: number;
  /** A peer that was never reached stops standing for "something unknown may be served" after this long. */
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

/** Share of the interval by which visits are spread, so that many servers do not ask one peer in step. */
const JITTER = 0.2;

export interface PeerMonitorOptions {
  readonly identity: string;
  readonly endpoints: readonly TrackedEndpoint[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: MonitorTimings;
  readonly random: () => number;
  /** Something that the peer table shows has changed. */
  readonly onChange: () => void;
  /** Surface known from before, when a server is seen under a new name. */
  readonly inherited?: { readonly surface: Surface; readonly readAtMs: number } | undefined;
  /** Since when the server is sighted and never answered, under another name or with other addresses; now if undefined. */
  readonly unreadSinceMs?: number | undefined;
  /** It does not count as a server whose surface is unknown until it answers. */
  readonly abandoned?: boolean | undefined;
  readonly onReadFailed?: ((identity: string, type: ReadFailure) => void) | undefined;
}

/** Why a surface could not be read, for metrics. */
export type ReadFailure = 'timeout' | 'malformed' | 'status' | 'unreachable';

/** Watches over one peer: one loop for each of its endpoints, so that nothing that hangs holds up anything else. */
export class PeerMonitor {
  readonly identity: string;
  readonly endpoints: readonly TrackedEndpoint[];
  readonly #options: PeerMonitorOptions;
  readonly #loops: EndpointLoop[];
  /** Since when it is sighted and not read. */
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

  /** The last moment it was known to be there, or when it was first seen. */
  get answeredAtMs(): number {
    const reported = this.endpoints.map((endpoint) => endpoint.health.answeredAtMs ?? 0);
    return Math.max(this.#answeredAtMs, ...reported);
  }

  /** Every endpoint was tried once, or one was enough. */
  get tried(): boolean {
    return this.#readAtMs !== undefined || this.#triedEndpoints.size === this.endpoints.length;
  }

  start(): void {
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

  /** Visits every endpoint as soon as its cool-down allows. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Reads the surface anew; resolves when a read begun after this call is over, or after a bounded wait. */
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

  /** Whether this endpoint is the one to read through: the first that is usable, or any while none is. */
  reads(endpoint: TrackedEndpoint): boolean {
    const usable = this.endpoints.find((candidate) => candidate.usable());
    return usable === undefined || this.endpoints.indexOf(endpoint) <= this.endpoints.indexOf(usable);
  }

  /** It says that it is ready; what it serves is not known yet (again). */
  answering(): void {
    if (this.#state === 'departed') this.#enter('returning');
    if (this.#state === 'abandoned') this.#enter('expected');
  }

  accept(surface: Surface): void {
    if (this.#closed) return;
    const { clock, logger } = this.#options;
    const changed = this.#surface !== surface || this.#state !== 'present';
    if (this.#state !== 'present')
      logger.info('peer is there', { peer: this.identity, version: surface.kubernetesVersion });
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

  /** Traffic or a probe failed: look at the others now, one of them may have to take over. */
  #afterFailure(endpoint: TrackedEndpoint, error: unknown): void {
    this.#options.onReadFailed?.(this.identity, failureOf(error));
    this.#complain(endpoint, error);
    if (this.#state === 'returning') this.#enter('departed');
    const next = this.endpoints.findIndex((candidate) => candidate !== endpoint && candidate.usable());
    if (next >= 0 && this.reads(this.endpoints[next]!)) this.#loops[next]!.wake();
    this.#watchForDeparture();
  }

  /** Once for each kind of trouble with an address, until it is well again. */
  #complain(endpoint: TrackedEndpoint, error: unknown): void {
    const failure = failureOf(error);
    if (this.#complaints.get(endpoint) === failure) return;
    this.#complaints.set(endpoint, failure);
    this.#options.logger.warn('what a peer serves cannot be read', {
      peer: this.identity,
      address: endpoint.destination.address,
      why: error instanceof Error ? error.message : String(error),
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
    logger.warn('peer is gone', { peer: this.identity, why });
    this.#enter('departed');
  }

  /** Leaves the server out until it answers, unless it has answered already. */
  giveUpUnread(): void {
    if (this.#state !== 'expected') return;
    this.#cancelUnread();
    const reachable = this.endpoints.some((endpoint) => endpoint.health.answeredAtMs !== undefined);
    if (!reachable && !this.#answersNow()) {
      const why = this.endpoints.map((endpoint) => endpoint.health.lastError).join('; ');
      this.#options.logger.warn('peer was never reached and is left out until it answers', {
        peer: this.identity,
        why,
      });
      this.#enter('abandoned');
      return;
    }
    this.#cancelUnread = this.#options.clock.after(this.#options.timings.unreadGraceMs, () => this.giveUpUnread());
  }

  /** Ready, although its discovery cannot be read: it may well serve what nobody else does. */
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
 * - expected: sighted, nothing read yet;
 * - present: read, and answering or not yet gone for long enough;
 * - departed: it was present and does not answer any more;
 * - returning: it was departed and says it is ready, but has not been read again;
 * - abandoned: sighted, but never reached in all the time allowed.
 */
export type PeerState = 'expected' | 'present' | 'departed' | 'returning' | 'abandoned';

/** Visits one endpoint, over and over. */
class EndpointLoop {
  readonly #monitor: PeerMonitor;
  readonly #endpoint: TrackedEndpoint;
  readonly #options: PeerMonitorOptions;
  #cancelPause = () => {};
  #visit: Promise<void> | undefined;
  #closed = false;
  #again = false;
  /** The last visit was told that the server is ready. */
  ready = false;

  constructor(monitor: PeerMonitor, endpoint: TrackedEndpoint, options: PeerMonitorOptions) {
    this.#monitor = monitor;
    this.#endpoint = endpoint;
    this.#options = options;
  }

  start(): void {
    this.#endpoint.onFailure(() => {
      this.#monitor.visited(this.#endpoint, new Error(this.#endpoint.health.lastError));
      this.#pause();
    });
    this.#begin();
  }

  close(): void {
    this.#closed = true;
    this.#cancelPause();
  }

  wake(): void {
    if (this.#visit) {
      this.#again = true;
      return;
    }
    this.#cancelPause();
    const waitMs = this.#endpoint.usable() ? 0 : this.#endpoint.health.probeInMs();
    this.#cancelPause = this.#options.clock.after(waitMs, () => this.#begin());
  }

  /** A visit that starts from now on, even if one is under way. */
  async visitAnew(): Promise<void> {
    if (this.#visit) await this.#visit;
    if (this.#closed) return;
    this.#cancelPause();
    this.#begin();
    await this.#visit;
  }

  #begin(): void {
    if (this.#closed || this.#visit) return;
    this.#cancelPause();
    this.#visit = this.#once().finally(() => {
      this.#visit = undefined;
      this.#pause();
    });
  }

  #pause(): void {
    if (this.#closed || this.#visit) return;
    this.#cancelPause();
    const usable = this.#endpoint.usable();
    const spread = 1 - JITTER + 2 * JITTER * this.#options.random();
    const delayMs = usable
      ? this.#again
        ? 0
        : this.#options.timings.readEveryMs * spread
      : this.#endpoint.health.probeInMs();
    this.#again = false;
    this.#cancelPause = this.#options.clock.after(delayMs, () => this.#begin());
  }

  async #once(): Promise<void> {
    const { health } = this.#endpoint;
    const failuresBefore = health.failureCount;
    try {
      await this.#probe();
      // Traffic that failed meanwhile knows better than a probe that was sent before.
      if (this.#closed || health.failureCount !== failuresBefore) return;
      health.probed();
      this.#monitor.visited(this.#endpoint, undefined);
    } catch (error) {
      if (this.#closed) return;
      this.#endpoint.probeFailed(error);
      this.#monitor.visited(this.#endpoint, error);
    }
  }

  async #probe(): Promise<void> {
    const monitor = this.#monitor;
    const { reader } = this.#endpoint;
    const wasUsable = this.#endpoint.usable();
    const reads = monitor.reads(this.#endpoint);
    if (!wasUsable || !reads) {
      this.ready = false;
      await this.#endpoint.checkReady();
      this.ready = true;
      if (!wasUsable && !this.#closed) monitor.answering();
    }
    if (!reads) return;
    let { surface } = await reader.read();
    if (wasUsable && monitor.surface && surface !== monitor.surface && lostSomething(monitor.surface, surface)) {
      // A server that was restarted between two visits shows only a part at first. Believe it once it is ready.
      await this.#endpoint.checkReady();
      ({ surface } = await reader.read());
    }
    if (!this.#closed) monitor.accept(surface);
  }
}

function failureOf(error: unknown): ReadFailure {
  if (error instanceof DeadlineError) return 'timeout';
  if (error instanceof SurfaceDocumentError) return 'malformed';
  if (error instanceof SurfaceReadError) return 'status';
  return 'unreachable';
}
