import type { Clock } from '../../base/clock.js';

export interface PaceOptions {
  readonly clock: Clock;
  readonly servers: number;
  /** Time between two steps. */
  readonly holdMs: number;
  /** Halves after this one, which take as long. */
  readonly halvesToFollow: number;
}

/** How long a server takes to be replaced, until one was. */
const REPLACE_MS_EXPECTED = 4_000;
/** Start and end of a control plane, and the time in which deleted objects disappear. */
const REST_MS_EXPECTED = 8_000;
const ROUND_MS = 5_000;

/** Numbers the steps of a half and estimates the time that remains, from the steps that are over. */
export class Pace {
  readonly #options: PaceOptions;
  readonly #steps: number;
  #begun = 0;
  #over = 0;
  #replaceMs = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    // Each server is upgraded and rolled back, and the first one is restarted between.
    this.#steps = 2 * options.servers + 1;
  }

  /** Returns the name of the step that begins now, with its number and the time until the last half is over. */
  next(name: string): string {
    this.#begun += 1;
    return `${this.#begun} of ${this.#steps}: ${name}; ${remainingText(this.#remainingMs())} left`;
  }

  /** Measures the replacement of a server. */
  async during<T>(replace: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const beganMs = clock.nowMs();
    const result = await replace();
    this.#replaceMs += clock.nowMs() - beganMs;
    this.#over += 1;
    return result;
  }

  #remainingMs(): number {
    const { holdMs, halvesToFollow } = this.#options;
    const replaceMs = this.#over === 0 ? REPLACE_MS_EXPECTED : this.#replaceMs / this.#over;
    const stepMs = replaceMs + holdMs;
    const wholeHalfMs = this.#steps * stepMs + holdMs + REST_MS_EXPECTED;
    return (this.#steps - this.#over) * stepMs + REST_MS_EXPECTED + halvesToFollow * wholeHalfMs;
  }
}

/** Returns `about 1 min 25 s`. */
function remainingText(ms: number): string {
  const seconds = Math.max(ROUND_MS, Math.round(ms / ROUND_MS) * ROUND_MS) / 1_000;
  const minutes = Math.floor(seconds / 60);
  const parts = [minutes > 0 ? [`${minutes} min`] : [], seconds % 60 > 0 ? [`${seconds % 60} s`] : []].flat();
  return `about ${parts.join(' ')}`;
}
