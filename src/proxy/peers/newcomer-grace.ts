import type { Clock } from '../../base/clock.js';

export interface NewcomerBounds {
  /** How long, in all, servers that never answered may hold back a "not found". */
  readonly holdMsMax: number;
  /** Time in which all of that is available again. */
  readonly refillMs: number;
}

export const NEWCOMER_BOUNDS: NewcomerBounds = { holdMsMax: 60_000, refillMs: 600_000 };

export interface NewcomerGraceOptions {
  readonly clock: Clock;
  readonly bounds: NewcomerBounds;
  /** The time is used up: nobody holds any more. */
  onExhausted(): void;
}

/**
 * Limits the time in which unknown resources are answered with 503 because of servers that only leases tell of and that
 * have never answered. Without it, whoever may write leases could go on for ever with ever new names. Time counts once
 * however many hold at once, and is given back for a server that does answer.
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

  /** Returns false, and does nothing, if no time is left. */
  begin(newcomer: string): boolean {
    this.#count();
    if (this.#availableMs <= 0) return false;
    this.#holding.set(newcomer, this.#options.clock.nowMs());
    this.#schedule();
    return true;
  }

  /** Does nothing for one that does not hold. */
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
