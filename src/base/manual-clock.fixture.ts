import type { Clock } from './clock.js';

interface Alarm {
  readonly atMs: number;
  readonly callback: () => void;
}

/** A clock that advances only when a test calls `advance`. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #alarms = new Set<Alarm>();

  constructor(nowMs = Date.UTC(2030, 0, 1)) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const alarm = { atMs: this.#nowMs + Math.max(0, delayMs), callback };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  get pending(): number {
    return this.#alarms.size;
  }

  /**
   * Advances the time, alarm by alarm in order. Promises and immediates that an alarm started run
   * before the next alarm, so that loops that set their next alarm after an await behave as in real
   * time.
   */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settle();
    for (let next = this.#nextUntil(untilMs); next; next = this.#nextUntil(untilMs)) {
      this.#alarms.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
      await settle();
    }
    this.#nowMs = untilMs;
    await settle();
  }

  #nextUntil(untilMs: number): Alarm | undefined {
    let next: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.atMs <= untilMs && (!next || alarm.atMs < next.atMs)) next = alarm;
    }
    return next;
  }
}

/** Runs everything that is ready: promises and immediates. */
export async function settle(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * Waits for a condition that depends on real sockets, without a fixed sleep. Throws after
 * `withinMs`.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'condition',
  withinMs = 5_000,
): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAtMs) throw new Error(`gave up waiting for: ${what}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
