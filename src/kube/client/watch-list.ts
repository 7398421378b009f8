import { readBody } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import type { Reply } from '../../http/exchange.js';
import { JsonLines } from './json-lines.js';
import { isKubeObject, type KubeClient, type KubeObject, kubeError } from './kube-client.js';
import { KubeError } from './kube-error.js';

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
/**
 * Timeout without data. Bookmarks arrive about once a minute, so a longer silence means a dead
 * connection.
 */
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
    const { clock, send, timeoutMs } = this.#client.options;
    const target = this.#watchTarget();
    const startedAtMs = clock.nowMs();
    const life = new Deadline(clock, (WATCH_SECONDS_MIN + WATCH_SECONDS_SPREAD) * 1000 + timeoutMs, `watch ${target}`);
    this.#interrupt = () => life.cancel('closed');
    try {
      const head = new Deadline(clock, timeoutMs, `watch ${target}`);
      const stop = life.onAbort(() => head.cancel('closed'));
      let reply: Reply;
      try {
        const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
        const sent = send('GET', target, headers, null, (listener) => {
          const ways = [life.onAbort(listener), head.onAbort(listener)];
          return () => {
            for (const forget of ways) forget();
          };
        });
        reply = await head.race(life.reply(sent));
      } finally {
        stop();
        head.end();
      }
      await life.race(this.#follow(target, reply));
      return clock.nowMs() - startedAtMs;
    } catch (error) {
      life.cancel('the watch failed');
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

  async #follow(target: string, reply: Reply): Promise<void> {
    const { body } = reply;
    if (reply.status !== 200) {
      throw kubeError('GET', target, reply.status, await readBody(body, 64 * 1024));
    }
    if (body === null) return;
    const lines = new JsonLines(this.#client.options.eventBytesMax);
    if (body instanceof Uint8Array) {
      for (const event of lines.push(body)) this.#apply(target, event);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      let cancelWatchdog = () => {};
      const give = (error: Error): void => {
        cancelWatchdog();
        body.cancel(error);
        reject(error);
      };
      const heard = (): void => {
        cancelWatchdog();
        const silent = () => give(new Error(`watch ${target}: silent for ${SILENCE_MS_MAX} ms`));
        cancelWatchdog = this.#client.options.clock.after(SILENCE_MS_MAX, silent);
      };
      heard();
      body.attach({
        write: (chunk) => {
          heard();
          try {
            for (const event of lines.push(chunk)) this.#apply(target, event);
          } catch (error) {
            give(error as Error);
            return false;
          }
          return true;
        },
        end: () => {
          cancelWatchdog();
          resolve();
        },
        fail: (error) => {
          cancelWatchdog();
          reject(error);
        },
      });
    });
  }

  #apply(target: string, event: unknown): void {
    if (this.#closed) return;
    const { type, object } = (event ?? {}) as { type?: unknown; object?: unknown };
    if (type === 'ERROR') {
      const { code, reason, message } = (object ?? {}) as { code?: unknown; reason?: unknown; message?: unknown };
      throw new KubeError({ method: 'GET', target }, Number(code) || 500, String(reason ?? ''), String(message ?? ''));
    }
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
