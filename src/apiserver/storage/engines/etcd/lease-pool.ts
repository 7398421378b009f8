import type { Clock } from '../../../../base/clock.js';
import type { EtcdClient } from './etcd-client.js';
import { decodeLeaseGrant, encodeLeaseGrant, encodeLeaseRevoke, METHODS } from './etcd-messages.js';

/** Keys written within this part of their time to live share a lease, which lives longer by it: etcd tracks every lease. */
const SHARE_PART_OF_TTL = 0.05;
const SHARE_MS_MAX = 60_000;
/** Bound on the keys of a lease, which are deleted at one revision. */
const KEYS_PER_LEASE_MAX = 1000;
/** Bound on shared leases, one for each time to live; beyond it, the oldest is no longer shared. */
const OPEN_LEASES_MAX = 64;

interface OpenLease {
  readonly id: Promise<bigint>;
  readonly shareUntilMs: number;
  keys: number;
}

export interface HeldLease {
  readonly id: bigint;
  /** To be called only if the key was not written: an unused lease is revoked. */
  release(): void;
}

export class LeasePool {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenLease>();

  constructor(client: EtcdClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns a lease on which a key lives at least this long. */
  async acquire(ttlSeconds: number): Promise<HeldLease> {
    const shareMs = Math.min(SHARE_MS_MAX, Math.floor(ttlSeconds * SHARE_PART_OF_TTL) * 1000);
    if (shareMs === 0) {
      const id = await this.#grant(ttlSeconds);
      return { id, release: () => this.#revoke(id) };
    }
    const open = this.#open.get(ttlSeconds);
    const lease =
      open !== undefined && open.keys < KEYS_PER_LEASE_MAX && this.#clock.nowMs() < open.shareUntilMs
        ? open
        : this.#openLease(ttlSeconds, shareMs);
    lease.keys++;
    return { id: await lease.id, release: () => lease.keys-- };
  }

  #openLease(ttlSeconds: number, shareMs: number): OpenLease {
    const id = this.#grant(ttlSeconds + shareMs / 1000);
    const lease = { id, shareUntilMs: this.#clock.nowMs() + shareMs, keys: 0 };
    this.#open.delete(ttlSeconds);
    this.#open.set(ttlSeconds, lease);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_LEASES_MAX) break;
      this.#open.delete(oldest);
    }
    id.catch(() => {
      if (this.#open.get(ttlSeconds) === lease) this.#open.delete(ttlSeconds);
    });
    return lease;
  }

  async #grant(ttlSeconds: number): Promise<bigint> {
    // Repeatable: a second grant is a lease without keys, which expires.
    const answer = await this.#client.call(METHODS.leaseGrant, encodeLeaseGrant(Math.ceil(ttlSeconds)), 'repeatable');
    return decodeLeaseGrant(answer);
  }

  #revoke(id: bigint): void {
    // Failures are ignored: the lease expires.
    this.#client.call(METHODS.leaseRevoke, encodeLeaseRevoke(id), 'repeatable').catch(() => {});
  }
}
