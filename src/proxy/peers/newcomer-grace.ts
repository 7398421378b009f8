import type { Clock } from '../../base/clock.js';

export interface NewcomerBounds {
  /** Total time for which servers that never answered may turn 404 into 503. */
  readonly holdMsMax: number;
  /** Time in which the whole budget is refilled. */
  readonly refillMs: number;
}

export const NEWCOMER_BOUNDS: NewcomerBounds = { holdMsMax: 60_000, refillMs: 600_000 };

export interface NewcomerGraceOptions {
  readonly clock: Clock;
  readonly bounds: NewcomerBounds;
  /** Called when the budget is used up; no newcomer holds any more. */
  onExhausted(): void;
}

/**
 * Bounds the time for which unknown resources get 503 because of servers that only leases name and
 * that have never answered. Otherwise a user who may write leases could prevent 404 for ever by
 * adding new names. The budget is charged once for any number of simultaneous holders, and refunded
 * for a server that does answer.
 */
export class NewcomerGrace {
  readonly #options: NewcomerGraceOptions;
  readonly #holding = new Map<string, number>();
  #availableMs: number;
  #countedAtMs: number;
  #cancelExhaustion = () => {};

  constructor(options: NewcomerGraceOptions) {
    this.#options = options;
    this.#availableMs = options.bounds.holdMsMax;
    this.#countedAtMs = options.clock.nowMs();
  }

  /** Starts holding for a newcomer. Returns false, without effect, if the budget is used up. */
  begin(newcomer: string): boolean {
    this.#count();
    if (this.#availableMs <= 0) return false;
    this.#holding.set(newcomer, this.#options.clock.nowMs());
    this.#schedule();
    return true;
  }

  /** Stops holding. No effect for a newcomer that does not hold. */
  end(newcomer: string, answered: boolean): void {
    this.#count();
    const sinceMs = this.#holding.get(newcomer);
    if (sinceMs === undefined) return;
    this.#holding.delete(newcomer);
    if (answered) this.#add(this.#options.clock.nowMs() - sinceMs);
    this.#schedule();
  }

  close(): void {
    this.#cancelExhaustion();
  }

  #count(): void {
    const nowMs = this.#options.clock.nowMs();
    const passedMs = nowMs - this.#countedAtMs;
    this.#countedAtMs = nowMs;
    const { holdMsMax, refillMs } = this.#options.bounds;
    if (this.#holding.size > 0) this.#availableMs = Math.max(0, this.#availableMs - passedMs);
    else this.#add((passedMs * holdMsMax) / refillMs);
  }

  #add(ms: number): void {
    this.#availableMs = Math.min(this.#options.bounds.holdMsMax, this.#availableMs + ms);
  }

  #schedule(): void {
    this.#cancelExhaustion();
    this.#cancelExhaustion = () => {};
    if (this.#holding.size === 0) return;
    this.#cancelExhaustion = this.#options.clock.after(this.#availableMs, () => {
      this.#count();
      this.#holding.clear();
      this.#options.onExhausted();
    });
  }
}
