import type { Clock } from './clock.js';

export interface RepeatedTaskOptions {
  readonly clock: Clock;
  /** One turn. Must not reject. */
  readonly run: () => Promise<void>;
  /** Returns the pause after a turn in ms; called at the end of each turn. */
  readonly pauseMs: () => number;
}

/** Repeats a task with a pause after each turn, never two turns at once. Begins with the first `now` or `pause`. */
export class RepeatedTask {
  readonly #options: RepeatedTaskOptions;
  #turn: Promise<void> | undefined;
  #cancelPause: () => void = () => {};
  #closed = false;

  constructor(options: RepeatedTaskOptions) {
    this.#options = options;
  }

  /** Begins a turn unless one is in progress; resolves when that turn has ended. */
  now(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#cancelPause();
    this.#turn ??= this.#options.run().finally(() => {
      this.#turn = undefined;
      this.pause();
    });
    return this.#turn;
  }

  /** Resolves when a turn that began after this call has ended. */
  async anew(): Promise<void> {
    await this.#turn;
    await this.now();
  }

  /** Begins a pause of its present length, in place of one in progress. Without effect during a turn. */
  pause(): void {
    if (this.#closed || this.#turn) return;
    this.#cancelPause();
    this.#cancelPause = this.#options.clock.after(this.#options.pauseMs(), () => void this.now());
  }

  /** Begins no further turn; resolves when the one in progress has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPause();
    await this.#turn;
  }
}
