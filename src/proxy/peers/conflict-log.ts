import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../peers/once-per-subject.js';
import type { AddressConflict } from './address-claims.js';

/** Lines about conflicts in `LINES_WINDOW_MS`: leases can be written faster than anybody reads a log. */
export const CONFLICT_LINES_MAX = 10;
const LINES_WINDOW_MS = 60_000;

/** Logs each address that several host names claim once, until that is settled. */
export class ConflictLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #told = new OncePerSubject();
  #current: readonly AddressConflict[] = [];
  #windowFromMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #leftOutCount = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  update(conflicts: readonly AddressConflict[], leftOutCount: number): void {
    const addresses = new Set(conflicts.map(({ address }) => address));
    for (const { address } of this.#current) if (!addresses.has(address)) this.#told.forget(address);
    this.#current = conflicts;
    for (const { address, holder, refused } of conflicts) {
      if (!this.#hasRoom() || !this.#told.isNew(address)) continue;
      this.#warn(
        holder === undefined
          ? 'leases of several host names claim one address, which is therefore not used'
          : 'a lease claims the address of another server and is ignored there',
        { address, ...(holder === undefined ? {} : { holder }), claimedBy: refused.slice(0, NAMES_MAX) },
      );
    }
    if (leftOutCount > 0 && this.#leftOutCount === 0 && this.#hasRoom()) {
      this.#warn('too many servers are sighted, some are left out', { leftOut: leftOutCount });
    }
    this.#leftOutCount = leftOutCount;
  }

  #hasRoom(): boolean {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#windowFromMs >= LINES_WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#lines = 0;
    }
    return this.#lines < CONFLICT_LINES_MAX;
  }

  #warn(message: string, fields: Record<string, unknown>): void {
    this.#lines++;
    this.#logger.warn(message, { ...fields, advice: ADVICE });
  }
}

const ADVICE = 'run `straddle check`, and delete identity leases in kube-system that belong to no server';
/** Host names in one line. */
const NAMES_MAX = 5;
