import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { type ApiAnswer, type ApiClient, ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { text } from '../../kube/fields.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { isDefinitelyAbsent } from './answers.js';

export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
export const LEASE_NAME = 'straddle-controllers';

/** Duration, renewal interval, and how much earlier than the others the holder gives up. */
export const LEADER_TIMINGS = { durationMs: 15_000, renewEveryMs: 3_000, marginMs: 5_000 } as const;

export interface LeaderElectionOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverName: string;
  readonly onGained: () => void;
  /** The lease is lost, or cannot be renewed in time. Called before another server can hold it. */
  readonly onLost: () => void;
  readonly timings?: Partial<typeof LEADER_TIMINGS>;
}

interface Seen {
  readonly version: string;
  readonly holder: string;
  readonly durationMs: number;
  /** By the local clock: clocks of other servers are not trusted. */
  readonly sinceMs: number;
}

/**
 * Elects the one server that runs the controllers: the holder of the lease. Another server takes
 * over only after it has seen the lease unchanged for its whole duration; the holder gives up
 * `marginMs` earlier, counted from before it sent its last renewal. So two servers never hold it at
 * once, if their clocks run at the same speed.
 */
export class LeaderElection {
  readonly identity: string;
  readonly #options: LeaderElectionOptions;
  readonly #timings: typeof LEADER_TIMINGS;
  #held: JsonObject | undefined;
  #heldUntilMs = 0;
  #seen: Seen | undefined;
  #cancelNext = () => {};
  #cancelExpiry = () => {};
  #running: Promise<void> = Promise.resolve();
  #complained = false;
  #closed = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timings = { ...LEADER_TIMINGS, ...options.timings } as typeof LEADER_TIMINGS;
    this.identity = `${options.serverName.toLowerCase()}_${randomUUID()}`;
  }

  start(): void {
    this.#running = this.#attempt();
  }

  /** Checked before every change. */
  isHeld(): boolean {
    return this.#held !== undefined && this.#options.clock.nowMs() < this.#heldUntilMs;
  }

  /** Releases the lease, so that no server has to wait for its expiry. Never rejects. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelNext();
    this.#cancelExpiry();
    await this.#running;
    const lease = this.#held;
    this.#lose();
    if (!lease) return;
    try {
      const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1 };
      await this.#options.client.request({
        method: 'PUT',
        target: `${LEASES}/${LEASE_NAME}`,
        body: { ...lease, spec },
      });
    } catch (error) {
      this.#options.logger.debug('the lease of the controllers was not given back; it will expire', { error });
    }
  }

  async #attempt(): Promise<void> {
    try {
      await this.#acquireOrRenew();
      this.#complained = false;
    } catch (error) {
      if (!this.#complained && !this.#closed)
        this.#options.logger.warn('the lease of the controllers cannot be kept; trying again', { error });
      this.#complained = true;
    }
    if (this.#closed) return;
    this.#cancelNext = this.#options.clock.after(this.#timings.renewEveryMs, () => {
      this.#running = this.#attempt();
    });
  }

  async #acquireOrRenew(): Promise<void> {
    const { client } = this.#options;
    const target = `${LEASES}/${LEASE_NAME}`;
    const sentAtMs = this.#options.clock.nowMs();
    if (this.#held) {
      const answer = await client.request({ method: 'PUT', target, body: this.#lease(this.#held) });
      if (isSuccess(answer)) return this.#hold(answer.body, sentAtMs);
      if (answer.status !== 409 && !isDefinitelyAbsent(answer, LEASE_NAME))
        throw new ApiRefusal('renew the lease', answer);
      // Another server has written it, or it was deleted.
      this.#lose();
    }
    const found = await client.request({ method: 'GET', target });
    if (isDefinitelyAbsent(found, LEASE_NAME)) return this.#taken(await this.#create(), sentAtMs);
    if (found.status !== 200) throw new ApiRefusal('read the lease', found);
    if (this.#isFree(found.body)) {
      return this.#taken(await client.request({ method: 'PUT', target, body: this.#lease(found.body) }), sentAtMs);
    }
  }

  #create(): Promise<ApiAnswer> {
    return this.#options.client.request({ method: 'POST', target: LEASES, body: this.#lease(undefined) });
  }

  #taken(answer: ApiAnswer, sentAtMs: number): void {
    if (isSuccess(answer)) this.#hold(answer.body, sentAtMs);
    // 409: another server was faster.
    else if (answer.status !== 409) throw new ApiRefusal('take the lease', answer);
  }

  #hold(lease: JsonObject, sentAtMs: number): void {
    if (this.#closed) {
      this.#held = lease;
      return;
    }
    const gained = this.#held === undefined;
    this.#held = lease;
    this.#heldUntilMs = sentAtMs + this.#timings.durationMs - this.#timings.marginMs;
    this.#cancelExpiry();
    const { clock, logger } = this.#options;
    this.#cancelExpiry = clock.after(this.#heldUntilMs - clock.nowMs(), () => this.#lose());
    if (!gained) return;
    logger.info('this server runs the controllers now', { identity: this.identity });
    this.#options.onGained();
  }

  #lose(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#heldUntilMs = 0;
    this.#cancelExpiry();
    if (!this.#closed) this.#options.logger.warn('this server no longer runs the controllers: its lease is gone');
    this.#options.onLost();
  }

  #isFree(lease: JsonObject): boolean {
    const spec = specOf(lease);
    const holder = text(spec, 'holderIdentity');
    if (holder === '' || holder === this.identity) return true;
    const nowMs = this.#options.clock.nowMs();
    const version = text(metadataOf(lease), 'resourceVersion');
    if (this.#seen?.version !== version || this.#seen.holder !== holder) {
      const seconds = Number(spec['leaseDurationSeconds']);
      const durationMs = seconds > 0 ? seconds * 1_000 : this.#timings.durationMs;
      this.#seen = { version, holder, durationMs, sinceMs: nowMs };
    }
    return nowMs - this.#seen.sinceMs > this.#seen.durationMs;
  }

  #lease(from: JsonObject | undefined): JsonObject {
    const before = from ? specOf(from) : {};
    const isOurs = before['holderIdentity'] === this.identity;
    const now = `${new Date(this.#options.clock.nowMs()).toISOString().slice(0, -1)}000Z`;
    const transitions = Number(before['leaseTransitions'] ?? 0);
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: from ? metadataOf(from) : { name: LEASE_NAME, namespace: 'kube-system' },
      spec: {
        holderIdentity: this.identity,
        leaseDurationSeconds: Math.ceil(this.#timings.durationMs / 1_000),
        acquireTime: isOurs ? (before['acquireTime'] ?? now) : now,
        renewTime: now,
        leaseTransitions: from && !isOurs ? transitions + 1 : transitions,
      },
    };
  }
}

function specOf(lease: JsonObject): JsonObject {
  const spec = lease['spec'];
  return isObject(spec) ? spec : {};
}
