import type { Clock } from './clock.js';

interface Alarm {
  readonly atMs: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
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
   * Moves time on, alarm by alarm in order, and lets what each one started run (promises, immediates) before the next,
   * so that loops that set their next alarm only after some awaiting behave as they would in real time.
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

/** Lets everything that is ready to run do so. */
export async function settle(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Waits for something that real sockets bring about, without a fixed sleep. */
export async function until(condition: () => boolean, what = 'condition', withinMs = 5_000): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > giveUpAtMs) throw new Error(`gave up waiting for: ${what}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
