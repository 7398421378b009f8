import type { Clock } from '../../base/clock.js';
import { type ApiClient, ApiRefusal, type WatchEvent } from '../../kube/client/api-client.js';
import { ListWatch } from '../../kube/client/list-watch.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { listPage } from './answers.js';

interface CollectionWatchOptions<T> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly path: string;
  readonly fieldSelector?: string;
  /** Returns the part of the metadata to keep in memory; undefined to ignore the object. */
  readonly keep: (object: JsonObject) => T | undefined;
  /** Called with all objects, at first and again whenever events may have been missed. */
  readonly onSnapshot: (items: readonly T[]) => void;
  readonly onEvent: (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: T) => void;
  /** Called after each failure, which is retried. */
  readonly onError: (error: Error) => void;
  /** Waits for a place among concurrent lists; resolves with a function that gives it back. */
  readonly enterList?: () => Promise<() => void>;
}

const BACK_OFF = { firstMs: 250, maxMs: 15_000 } as const;
const HEALTHY_WATCH_MS = 1_000;

/** Follows the metadata of a collection of the control plane, and keeps a part of it. */
export class CollectionWatch<T> {
  readonly #options: CollectionWatchOptions<T>;
  readonly #loop: ListWatch;
  readonly #selector: Readonly<Record<string, string>>;
  #isLive = false;

  constructor(options: CollectionWatchOptions<T>) {
    this.#options = options;
    const { client, clock, path, fieldSelector } = options;
    const selector = fieldSelector === undefined ? {} : { fieldSelector };
    this.#selector = selector;
    this.#loop = new ListWatch({
      path,
      clock,
      random: Math.random,
      backOff: BACK_OFF,
      healthyMs: HEALTHY_WATCH_MS,
      list: () => this.#list(),
      watch: (query, onEvent) => {
        const onOpen = (): void => {
          this.#isLive = !this.#loop.isClosed;
        };
        const target = `${path}?${new URLSearchParams({ ...query, ...selector })}`;
        return client.watch({ target, metadataOnly: true, onOpen, onEvent });
      },
      onEvent: (event) => this.#apply(event),
      onFailure: (error) => {
        this.#isLive = false;
        const isExpired = error instanceof ApiRefusal && error.status === 410;
        if (!isExpired) options.onError(error);
        return isExpired;
      },
    });
  }

  /** True after a list, while events arrive: an unknown object does not exist. */
  get isLive(): boolean {
    return this.#isLive;
  }

  close(): Promise<void> {
    this.#isLive = false;
    return this.#loop.close();
  }

  async #list(): Promise<string> {
    const { client, path, keep, onSnapshot } = this.#options;
    const leave = (await this.#options.enterList?.()) ?? (() => {});
    try {
      const kept: T[] = [];
      for (let next = ''; ; ) {
        const page = await listPage(client, path, next, this.#selector);
        if (this.#loop.isClosed) return '';
        for (const item of page.items) {
          const part = isObject(item) ? keep(item) : undefined;
          if (part !== undefined) kept.push(part);
        }
        next = page.next;
        if (next !== '') continue;
        onSnapshot(kept);
        this.#isLive = true;
        return page.resourceVersion;
      }
    } finally {
      leave();
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
    this.#loop.recovered();
  }
}
