import { TIMER_MS_MAX } from '../../base/clock.js';

/** Object with a deadline. */
export interface Expiring {
  /** On the clock of `performance.now()`; Infinity for none. */
  deadlineAt: number;
  expire(): void;
}

/** Least interval between two sweeps: deadlines within it may expire late, together. */
const COARSE_MS = 100;

/** One timer for many deadlines, which are set for each request and rarely expire. */
export class DeadlineSweep<T extends Expiring> {
  readonly members = new Set<T>();
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #nextAt = Number.POSITIVE_INFINITY;

  /** Sets the deadline of a member; `delayMs` 0 clears it. */
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
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#nextAt = Number.POSITIVE_INFINITY;
  }

  #wakeIn(delayMs: number): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    const bounded = Math.min(delayMs, TIMER_MS_MAX - 1);
    this.#nextAt = performance.now() + bounded;
    this.#timer = setTimeout(this.#sweepAfterInput, bounded + 1);
    // Open requests keep the process alive by themselves (under-way.ts).
    this.#timer.unref();
  }

  /** Replies that arrived while this process was stopped or busy are read before their deadlines expire. */
  #sweepAfterInput = (): void => {
    this.#immediate = setImmediate(this.#sweep);
  };

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
    // Expired members may have set an earlier deadline.
    const wait = Math.max(next - now, COARSE_MS);
    if (next !== Number.POSITIVE_INFINITY && now + wait < this.#nextAt) this.#wakeIn(wait);
  };
}
