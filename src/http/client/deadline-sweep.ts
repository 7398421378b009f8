import { TIMER_MS_MAX } from '../../base/clock.js';

/** Something that is given up when its time is over. */
export interface Expiring {
  /** On the clock of `performance.now()`; Infinity for none. */
  deadlineAt: number;
  expire(): void;
}

/** Deadlines closer to each other than this may be looked at together, by then. */
const COARSE_MS = 100;

/** One timer for the deadlines of many, which are set for each request and hardly ever come. */
export class DeadlineSweep<T extends Expiring> {
  readonly members = new Set<T>();
  #timer: NodeJS.Timeout | undefined;
  #nextAt = Number.POSITIVE_INFINITY;

  /** 0 for no deadline. */
  set(member: T, delayMs: number): void {
    if (delayMs === 0) {
      member.deadlineAt = Number.POSITIVE_INFINITY;
      return;
    }
    member.deadlineAt = performance.now() + delayMs;
    if (member.deadlineAt < this.#nextAt) this.#wakeIn(delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#nextAt = Number.POSITIVE_INFINITY;
  }

  #wakeIn(delayMs: number): void {
    clearTimeout(this.#timer);
    const bounded = Math.min(delayMs, TIMER_MS_MAX - 1);
    this.#nextAt = performance.now() + bounded;
    this.#timer = setTimeout(this.#sweep, bounded + 1);
    // What waits holds the process by itself (under-way.ts).
    this.#timer.unref();
  }

  #sweep = (): void => {
    const now = performance.now();
    this.stop();
    let next = Number.POSITIVE_INFINITY;
    for (const member of this.members) {
      if (member.deadlineAt <= now) {
        member.deadlineAt = Number.POSITIVE_INFINITY;
        member.expire();
      }
      if (member.deadlineAt < next) next = member.deadlineAt;
    }
    // Those that expired may have set one that is earlier.
    const wait = Math.max(next - now, COARSE_MS);
    if (next !== Number.POSITIVE_INFINITY && now + wait < this.#nextAt) this.#wakeIn(wait);
  };
}
