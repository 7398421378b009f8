import { Deadline } from '../../http/deadline.js';
import type { WatchEvent } from './api-client.js';
import { isKubeObject, type KubeClient, type KubeObject, kubeError } from './kube-client.js';
import { KubeError } from './kube-error.js';
import { watchJson } from './watch-json.js';

export interface WatchListOptions<T extends KubeObject> {
  readonly path: string;
  readonly labelSelector?: string;
  /** Called with all objects, at first and again whenever events may have been missed. */
  onSnapshot(items: readonly T[]): void;
  onEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Called after each failed list or watch, which is retried. The receiver logs it only once. */
  onError(error: Error): void;
}

/** Delays between attempts: doubling, with jitter so that many servers do not retry at once. */
export const WATCH_BACKOFF = { firstMs: 250, maxMs: 10_000, refusedMs: 30_000 } as const;

/** Duration of a watch, requested from the API server, so that a dead connection is detected. */
const WATCH_SECONDS_MIN = 240;
const WATCH_SECONDS_SPREAD = 120;
/** Bookmarks arrive about once a minute, so a longer silence means a dead connection. */
const SILENCE_MS_MAX = 150_000;
/** Lifetime from which the end of a watch counts as normal. */
const HEALTHY_WATCH_MS = 5_000;

/**
 * Follows a collection: list, then watch, repeated until closed. Calls back with one snapshot or
 * event at a time, in the order of the API server.
 */
export class WatchList<T extends KubeObject> {
  readonly #client: KubeClient;
  readonly #options: WatchListOptions<T>;
  #closed = false;
  #resourceVersion = '';
  #failures = 0;
  #interrupt: (() => void) | undefined;
  readonly #done: Promise<void>;

  constructor(client: KubeClient, options: WatchListOptions<T>) {
    this.#client = client;
    this.#options = options;
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#interrupt?.();
    await this.#done;
  }

  async #run(): Promise<void> {
    // Deferred: callbacks must not run before the constructor has returned.
    await Promise.resolve();
    while (!this.#closed) {
      try {
        if (this.#resourceVersion === '') await this.#list();
        const livedMs = await this.#watch();
        this.#failures = livedMs >= HEALTHY_WATCH_MS ? 0 : this.#failures + 1;
        if (this.#failures > 0) await this.#backOff();
      } catch (error) {
        if (this.#closed) return;
        if (error instanceof KubeError && error.code === 410) this.#resourceVersion = '';
        else this.#options.onError(error as Error);
        this.#failures++;
        await this.#backOff(error);
      }
    }
  }

  async #list(): Promise<void> {
    const query = new URLSearchParams();
    if (this.#options.labelSelector !== undefined) query.set('labelSelector', this.#options.labelSelector);
    const list = await this.#client.list<T>(`${this.#options.path}?${query}`);
    if (this.#closed) return;
    this.#options.onSnapshot(list.items);
    this.#resourceVersion = list.resourceVersion;
  }

  /** Resolves with the lifetime of the watch in ms after the server has ended it normally. */
  async #watch(): Promise<number> {
    if (this.#closed) return HEALTHY_WATCH_MS;
    const { clock, send, timeoutMs, eventBytesMax } = this.#client.options;
    const target = this.#watchTarget();
    const startedAtMs = clock.nowMs();
    const watch = watchJson(
      send,
      {
        target,
        accept: 'application/json',
        onOpen: () => {},
        onEvent: (event) => this.#apply(target, event),
        refused: (status, body) => kubeError('GET', target, status, body),
      },
      { clock, headTimeoutMs: timeoutMs, eventBytesMax, silenceMsMax: SILENCE_MS_MAX },
    );
    const life = new Deadline(clock, (WATCH_SECONDS_MIN + WATCH_SECONDS_SPREAD) * 1000 + timeoutMs, `watch ${target}`);
    this.#interrupt = () => watch.stop();
    try {
      await life.race(watch.ended);
      return clock.nowMs() - startedAtMs;
    } catch (error) {
      watch.stop();
      throw error;
    } finally {
      this.#interrupt = undefined;
      life.end();
    }
  }

  #watchTarget(): string {
    const { random } = this.#client.options;
    const query = new URLSearchParams({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: String(WATCH_SECONDS_MIN + Math.floor(random() * WATCH_SECONDS_SPREAD)),
    });
    if (this.#options.labelSelector !== undefined) query.set('labelSelector', this.#options.labelSelector);
    return `${this.#options.path}?${query}`;
  }

  #apply(target: string, event: WatchEvent): void {
    if (this.#closed) return;
    const { type } = event;
    if (type === 'ERROR') {
      const { code, reason, message } = event.object;
      throw new KubeError({ method: 'GET', target }, Number(code) || 500, String(reason ?? ''), String(message ?? ''));
    }
    const object: unknown = event.object;
    if (!isKubeObject(object)) throw new Error(`watch ${target}: an event without an object`);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') this.#options.onEvent(type, object as T);
    // Bookmarks and unknown event types also contain a resource version to resume from.
    if (object.metadata.resourceVersion) this.#resourceVersion = object.metadata.resourceVersion;
  }

  #backOff(error?: unknown): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const { clock, random } = this.#client.options;
    const doubled = WATCH_BACKOFF.firstMs * 2 ** Math.min(10, this.#failures - 1);
    const refused = error instanceof KubeError && error.refused;
    const delayMs = (refused ? WATCH_BACKOFF.refusedMs : Math.min(WATCH_BACKOFF.maxMs, doubled)) * (0.5 + random() / 2);
    return new Promise((resolve) => {
      const cancel = clock.after(delayMs, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }
}
