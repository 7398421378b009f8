import type { Clock } from '../../../../base/clock.js';
import type { EventTail } from './event-tail.js';
import type { GroupCommit } from './group-commit.js';
import type { Neighbours } from './neighbours.js';
import { decodeExpiryKey } from './records.js';
import { freshen, type Tables } from './tables.js';

/** Polling interval of the store, in case a nudge was lost. */
const ROUND_INTERVAL_MS = 1_000;
/** Polling interval if nudges cannot be received. */
const ROUND_INTERVAL_DEAF_MS = 20;
const HOUSEWORK_INTERVAL_MS = 10_000;
/** Expired keys that one transaction deletes. */
const EXPIRE_KEYS_MAX = 256;

export interface HousekeepingParts {
  readonly tables: Tables;
  readonly clock: Clock;
  readonly commits: GroupCommit;
  readonly tail: EventTail;
  readonly neighbours: Neighbours;
  readonly onError: (error: unknown) => void;
}

/** Periodic work of every process that has the store open. Several processes may do it at the same time. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  #stopped = false;
  #cancel: () => void = () => {};
  #houseworkDueMs = 0;

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
  }

  start(nudged: boolean): void {
    const intervalMs = nudged ? ROUND_INTERVAL_MS : ROUND_INTERVAL_DEAF_MS;
    const again = () => {
      if (this.#stopped) return;
      this.#cancel = this.#parts.clock.after(intervalMs, () => {
        this.#round()
          .catch((error: unknown) => {
            if (!this.#stopped) this.#parts.onError(error);
          })
          .finally(again);
      });
    };
    again();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #round(): Promise<void> {
    const { tables, clock, tail, neighbours } = this.#parts;
    tail.refresh();
    await this.#expireKeys();
    if (this.#stopped || clock.nowMs() < this.#houseworkDueMs) return;
    this.#houseworkDueMs = clock.nowMs() + HOUSEWORK_INTERVAL_MS;
    // The reader slot of a killed process prevents the reuse of old pages until it is cleared.
    tables.root.readerCheck();
    await neighbours.rescan();
  }

  async #expireKeys(): Promise<void> {
    while (!this.#stopped && this.#someKeyIsDue()) {
      await this.#parts.commits.write(0, (transaction) => transaction.expire(EXPIRE_KEYS_MAX));
    }
  }

  #someKeyIsDue(): boolean {
    freshen(this.#parts.tables);
    for (const key of this.#parts.tables.expiry.getKeys({ limit: 1 })) {
      return decodeExpiryKey(key).expiresAtMs <= this.#parts.clock.nowMs();
    }
    return false;
  }
}
