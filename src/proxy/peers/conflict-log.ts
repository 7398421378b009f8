import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import type { AddressConflict } from './address-claims.js';

/** Bound on log lines per `LINES_WINDOW_MS`: leases can be written faster than a log is read. */
export const CONFLICT_LINES_MAX = 10;
const LINES_WINDOW_MS = 60_000;

/** Logs each address conflict once, and again only if it was resolved and returns. */
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
          ? 'address ignored: identity leases of several host names claim it'
          : 'claim of an identity lease refused: the address belongs to another server',
        { address, ...(holder === undefined ? {} : { holder }), claimedBy: refused.slice(0, NAMES_MAX) },
      );
    }
    if (leftOutCount > 0 && this.#leftOutCount === 0 && this.#hasRoom()) {
      this.#warn('too many servers in identity leases and EndpointSlices; some are ignored', { leftOut: leftOutCount });
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
/** Bound on host names in one log line. */
const NAMES_MAX = 5;
