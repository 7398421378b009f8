import type { Clock } from '../../base/clock.js';
import { text } from '../fields.js';
import { metadataOf } from '../metadata-of.js';
import type { OpenWatch, WatchEvent } from './api-client.js';

export interface ListWatchOptions {
  /** Names the collection in errors. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Delays between attempts double, with jitter so that many servers do not retry at once. */
  readonly backOff: { readonly firstMs: number; readonly maxMs: number };
  /** Lifetime from which the end of a watch counts as normal. */
  readonly healthyMs: number;
  /** Reads and reports the collection. Resolves with its resource version. */
  list(): Promise<string>;
  /** Opens a watch with these query parameters. */
  watch(query: Readonly<Record<string, string>>, onEvent: (event: WatchEvent) => void): OpenWatch;
  /** Called with each event, bookmarks and errors included, in order. Throwing ends the watch. */
  onEvent(event: WatchEvent): void;
  /** Called after each failed list or watch. Returns true if the resource version has expired. */
  onFailure(error: Error): boolean;
  /** Replaces the delay after an error. */
  delayMs?(error: Error): number | undefined;
}

/** Duration of a watch, requested from the API server, so that a dead connection is detected. */
const WATCH_SECONDS_MIN = 240;
const WATCH_SECONDS_SPREAD = 120;
/** Bound on a watch that the server does not end. */
const WATCH_MS_MAX = (WATCH_SECONDS_MIN + WATCH_SECONDS_SPREAD + 30) * 1_000;
/**
 * Timeout without data. Bookmarks arrive about once a minute, so a longer silence means a dead
 * connection.
 */
const SILENCE_MS_MAX = 150_000;

/** Follows a collection: list, then watch from there, repeated until closed. */
export class ListWatch {
  readonly #options: ListWatchOptions;
  readonly #done: Promise<void>;
  #resourceVersion = '';
  #failures = 0;
  #interrupt: () => void = () => {};
  #closed = false;

  constructor(options: ListWatchOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Restarts the doubling of delays. */
  recovered(): void {
    this.#failures = 0;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#interrupt();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { clock, healthyMs } = this.#options;
    // Deferred: callbacks must not run before the constructor has returned.
    await Promise.resolve();
    while (!this.#closed) {
      let failure: Error | undefined;
      try {
        if (this.#resourceVersion === '') this.#resourceVersion = await this.#options.list();
        if (this.#closed) return;
        const startedAtMs = clock.nowMs();
        await this.#watch();
        this.#failures = clock.nowMs() - startedAtMs >= healthyMs ? 0 : this.#failures + 1;
      } catch (error) {
        if (this.#closed) return;
        failure = error as Error;
        this.#failures++;
        if (this.#options.onFailure(failure)) this.#resourceVersion = '';
      }
      if (this.#failures > 0) await this.#pause(failure);
    }
  }

  async #watch(): Promise<void> {
    const { clock, path, random } = this.#options;
    let failure: Error | undefined;
    let open: OpenWatch | undefined;
    const fail = (error: Error | undefined): void => {
      failure ??= error;
      open?.stop();
    };
    const failAfter = (delayMs: number, why: string): (() => void) =>
      clock.after(delayMs, () => fail(new Error(`watch ${path}: ${why} ${delayMs} ms`)));
    let cancelWatchdog = () => {};
    const heard = (): void => {
      cancelWatchdog();
      cancelWatchdog = failAfter(SILENCE_MS_MAX, 'silent for');
    };
    const query = {
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: String(WATCH_SECONDS_MIN + Math.floor(random() * WATCH_SECONDS_SPREAD)),
    };
    open = this.#options.watch(query, (event) => {
      if (this.#closed || failure) return;
      heard();
      try {
        this.#apply(event);
      } catch (error) {
        fail(error as Error);
      }
    });
    this.#interrupt = () => fail(undefined);
    const cancelLife = failAfter(WATCH_MS_MAX, 'timeout, not ended by the server in');
    heard();
    try {
      if (this.#closed || failure) open.stop();
      await open.ended;
      if (failure) throw failure;
    } finally {
      cancelLife();
      cancelWatchdog();
      this.#interrupt = () => {};
    }
  }

  /** Bookmarks and unknown event types also contain a resource version to resume from. */
  #apply(event: WatchEvent): void {
    this.#options.onEvent(event);
    const resourceVersion = text(metadataOf(event.object), 'resourceVersion');
    if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
  }

  #pause(failure: Error | undefined): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const { clock, random, backOff } = this.#options;
    const doubled = Math.min(backOff.maxMs, backOff.firstMs * 2 ** Math.min(10, this.#failures - 1));
    const delayMs = (failure && this.#options.delayMs?.(failure)) ?? doubled;
    return new Promise((resolve) => {
      const cancel = clock.after(delayMs * (0.5 + random() / 2), resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }
}
