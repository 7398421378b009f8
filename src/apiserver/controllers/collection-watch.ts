import type { Clock } from '../../base/clock.js';
import { type ApiClient, ApiRefusal, type OpenWatch, type WatchEvent } from '../../kube/client/api-client.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { textOf } from './answers.js';

export interface CollectionWatchOptions<T> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly path: string;
  readonly fieldSelector?: string;
  readonly metadataOnly: boolean;
  /** What is kept of an object; undefined for one of no interest. Called for each, so the rest is not held in memory. */
  readonly keep: (object: JsonObject) => T | undefined;
  /** All there is; first, and again whenever events may have been missed. */
  readonly onSnapshot: (items: readonly T[]) => void;
  readonly onEvent: (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: T) => void;
  /** Each failure; it is tried again after a wait. */
  readonly onError: (error: Error) => void;
  /** A place among those that may list at the same time; given back when called. */
  readonly enterList?: () => Promise<() => void>;
  readonly random?: () => number;
}

const PAGE_ITEMS = 500;
const BACK_OFF = { firstMs: 250, maxMs: 15_000 } as const;
const WATCH_SECONDS_MIN = 240;
const WATCH_SECONDS_SPREAD = 120;
/** Bookmarks come about once a minute, so a longer silence means that nobody is at the other end. */
const SILENCE_MS_MAX = 150_000;
/** A watch that lived this long has not failed. */
const HEALTHY_WATCH_MS = 1_000;

/** Keeps a view of a collection: list, then watch from there, again and again, until closed. */
export class CollectionWatch<T> {
  readonly #options: CollectionWatchOptions<T>;
  readonly #done: Promise<void>;
  #resourceVersion = '';
  #failures = 0;
  #interrupt: () => void = () => {};
  #isLive = false;
  #closed = false;

  constructor(options: CollectionWatchOptions<T>) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** Was listed, and events come in (or have come until a moment ago): what is not known does not exist. */
  get isLive(): boolean {
    return this.#isLive;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#isLive = false;
    this.#interrupt();
    await this.#done;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (!this.#closed) {
      try {
        if (this.#resourceVersion === '') await this.#list();
        if (this.#closed) return;
        const startedAtMs = this.#options.clock.nowMs();
        await this.#watch();
        const isHealthy = this.#options.clock.nowMs() - startedAtMs >= HEALTHY_WATCH_MS;
        this.#failures = isHealthy ? 0 : this.#failures + 1;
      } catch (error) {
        if (this.#closed) return;
        this.#failures++;
        this.#isLive = false;
        if (error instanceof ApiRefusal && error.status === 410) this.#resourceVersion = '';
        else this.#options.onError(error as Error);
      }
      if (this.#failures > 0) await this.#pause();
    }
  }

  async #list(): Promise<void> {
    const leave = (await this.#options.enterList?.()) ?? (() => {});
    try {
      const items: T[] = [];
      let next = '';
      do {
        const page = await this.#page(next);
        if (this.#closed) return;
        for (const item of page.items) {
          const kept = isObject(item) ? this.#options.keep(item) : undefined;
          if (kept !== undefined) items.push(kept);
        }
        next = page.next;
        if (next === '') this.#resourceVersion = page.resourceVersion;
      } while (next !== '');
      this.#options.onSnapshot(items);
      this.#isLive = true;
    } finally {
      leave();
    }
  }

  async #page(after: string) {
    const query = this.#query({ limit: String(PAGE_ITEMS), ...(after === '' ? {} : { continue: after }) });
    const { client, path, metadataOnly } = this.#options;
    const answer = await client.request({ method: 'GET', target: `${path}?${query}`, metadataOnly });
    const { items, metadata } = answer.body;
    if (answer.status !== 200) throw new ApiRefusal(`list ${path}`, answer);
    if (!isObject(metadata) || (items !== null && !Array.isArray(items)))
      throw new Error(`list ${path}: not a list was answered`);
    const resourceVersion = textOf(metadata, 'resourceVersion');
    return { items: items ?? [], resourceVersion, next: textOf(metadata, 'continue') };
  }

  async #watch(): Promise<void> {
    const { client, clock, path, metadataOnly, random = Math.random } = this.#options;
    const query = this.#query({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: String(WATCH_SECONDS_MIN + Math.floor(random() * WATCH_SECONDS_SPREAD)),
    });
    let failure: Error | undefined;
    let cancelWatchdog = () => {};
    let open: OpenWatch | undefined;
    const give = (error: Error | undefined): void => {
      failure ??= error;
      open?.stop();
    };
    const heard = (): void => {
      cancelWatchdog();
      cancelWatchdog = clock.after(SILENCE_MS_MAX, () => give(new Error(`watch ${path}: silent for too long`)));
    };
    open = client.watch({
      target: `${path}?${query}`,
      metadataOnly,
      onOpen: () => {
        this.#isLive = !this.#closed;
      },
      onEvent: (event) => {
        if (this.#closed || failure) return;
        heard();
        try {
          this.#apply(event);
        } catch (error) {
          give(error as Error);
        }
      },
    });
    this.#interrupt = () => give(undefined);
    heard();
    try {
      if (this.#closed) open.stop();
      await open.ended;
      if (failure) throw failure;
      this.#isLive = !this.#closed;
    } finally {
      cancelWatchdog();
      this.#interrupt = () => {};
    }
  }

  #apply({ type, object }: WatchEvent): void {
    if (type === 'ERROR') {
      throw new ApiRefusal(`watch ${this.#options.path}`, { status: Number(object['code']) || 500, body: object });
    }
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const kept = this.#options.keep(object);
      if (kept !== undefined) this.#options.onEvent(type, kept);
    }
    const resourceVersion = textOf(metadataOf(object), 'resourceVersion');
    if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
    this.#failures = 0;
  }

  #query(parameters: Record<string, string>): URLSearchParams {
    const query = new URLSearchParams(parameters);
    if (this.#options.fieldSelector !== undefined) query.set('fieldSelector', this.#options.fieldSelector);
    return query;
  }

  #pause(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const { clock, random = Math.random } = this.#options;
    const doubled = Math.min(BACK_OFF.maxMs, BACK_OFF.firstMs * 2 ** Math.min(10, this.#failures - 1));
    return new Promise((resolve) => {
      const cancel = clock.after(doubled * (0.5 + random() / 2), resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }
}
