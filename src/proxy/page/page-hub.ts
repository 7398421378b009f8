import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { RepeatedTask } from '../../base/repeated-task.js';
import type { PageSnapshot } from './page-snapshot.js';

export interface PageHubOptions {
  readonly build: () => Promise<PageSnapshot>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HubListener {
  onSnapshot(snapshot: PageSnapshot): void;
  /** No state can be built. */
  onFailure(): void;
}

/** A state is built at most this often, for all readers together. */
export const BUILD_EVERY_MS = 1_000;

/** Gives all readers of a process the same states: built while somebody looks, and not otherwise. */
export class PageHub {
  readonly #options: PageHubOptions;
  readonly #listeners = new Set<HubListener>();
  #ticks: RepeatedTask | undefined;
  #last: { readonly atMs: number; readonly snapshot: PageSnapshot } | undefined;
  #building: Promise<PageSnapshot> | undefined;
  #complained = false;

  constructor(options: PageHubOptions) {
    this.#options = options;
  }

  /** Resolves with a state that is at most a second old. Rejects if none can be built. */
  snapshot(): Promise<PageSnapshot> {
    const { clock } = this.#options;
    if (this.#last && Math.abs(clock.nowMs() - this.#last.atMs) < BUILD_EVERY_MS) {
      return Promise.resolve(this.#last.snapshot);
    }
    return this.#build();
  }

  /** Calls back with a state every second; returns a function that ends it. */
  subscribe(listener: HubListener): () => void {
    this.#listeners.add(listener);
    if (!this.#ticks) {
      const run = () => this.#tick();
      this.#ticks = new RepeatedTask({ clock: this.#options.clock, run, pauseMs: () => BUILD_EVERY_MS });
      this.#ticks.pause();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      void this.#ticks?.close();
      this.#ticks = undefined;
    };
  }

  async #tick(): Promise<void> {
    try {
      const snapshot = await this.#build();
      this.#complained = false;
      for (const listener of [...this.#listeners]) listener.onSnapshot(snapshot);
    } catch (error) {
      if (!this.#complained) this.#options.logger.warn('the state of the page cannot be built', { error });
      this.#complained = true;
      for (const listener of [...this.#listeners]) listener.onFailure();
    }
  }

  #build(): Promise<PageSnapshot> {
    const { build, clock } = this.#options;
    this.#building ??= build()
      .then((snapshot) => {
        this.#last = { atMs: clock.nowMs(), snapshot };
        return snapshot;
      })
      .finally(() => {
        this.#building = undefined;
      });
    return this.#building;
  }
}
