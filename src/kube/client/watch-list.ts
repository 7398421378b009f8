import { text } from '../fields.js';
import type { WatchEvent } from './api-client.js';
import { isKubeObject, type KubeClient, type KubeObject, kubeError } from './kube-client.js';
import { KubeError } from './kube-error.js';
import { ListWatch } from './list-watch.js';
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

export const WATCH_BACKOFF = { firstMs: 250, maxMs: 10_000, refusedMs: 30_000 } as const;
const HEALTHY_WATCH_MS = 5_000;

/**
 * Follows a collection with a KubeClient. Calls back with one snapshot or event at a time, in the
 * order of the API server.
 */
export class WatchList<T extends KubeObject> {
  readonly #client: KubeClient;
  readonly #options: WatchListOptions<T>;
  readonly #loop: ListWatch;

  constructor(client: KubeClient, options: WatchListOptions<T>) {
    this.#client = client;
    this.#options = options;
    const { clock, random, send, timeoutMs, eventBytesMax } = client.options;
    const limits = { clock, headTimeoutMs: timeoutMs, eventBytesMax };
    this.#loop = new ListWatch({
      path: options.path,
      clock,
      random,
      backOff: WATCH_BACKOFF,
      healthyMs: HEALTHY_WATCH_MS,
      list: () => this.#list(),
      watch: (query, onEvent) => {
        const target = this.#target(query);
        const refused = (status: number, body: Buffer): Error => kubeError('GET', target, status, body);
        return watchJson(send, { target, accept: 'application/json', onOpen: () => {}, onEvent, refused }, limits);
      },
      onEvent: (event) => this.#apply(event),
      onFailure: (error) => {
        const isExpired = error instanceof KubeError && error.code === 410;
        if (!isExpired) options.onError(error);
        return isExpired;
      },
      delayMs: (error) => (error instanceof KubeError && error.refused ? WATCH_BACKOFF.refusedMs : undefined),
    });
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  #target(query: Readonly<Record<string, string>>): string {
    const { path, labelSelector } = this.#options;
    return `${path}?${new URLSearchParams({ ...query, ...(labelSelector === undefined ? {} : { labelSelector }) })}`;
  }

  async #list(): Promise<string> {
    const { items, resourceVersion } = await this.#client.list<T>(this.#target({}));
    if (!this.#loop.isClosed) this.#options.onSnapshot(items);
    return resourceVersion;
  }

  #apply({ type, object }: WatchEvent): void {
    const { path, onEvent } = this.#options;
    if (type === 'ERROR') {
      const request = { method: 'GET', target: `${path}?watch=1` };
      throw new KubeError(request, Number(object['code']) || 500, text(object, 'reason'), text(object, 'message'));
    }
    if (!isKubeObject(object)) throw new Error(`watch ${path}: an event without an object`);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
      onEvent.call(this.#options, type, object as unknown as T);
  }
}
