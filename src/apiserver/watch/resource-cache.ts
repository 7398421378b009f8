import type { Backend, KeyEvent } from '../storage/backend.js';
import { CacheEvent } from './cache-event.js';
import { EventLog } from './event-log.js';
import type { StoreFeed } from './store-feed.js';
import { StoredObject } from './stored-object.js';

/**
 * All objects of one resource, kept up to date by the feed, and the latest events. However many clients list and watch,
 * the store is read once. What it hands out is consistent at the feed's revision.
 */
export class ResourceCache {
  readonly prefix: string;
  readonly log: EventLog;
  readonly #backend: Backend;
  readonly #feed: StoreFeed;
  readonly #objects = new Map<string, StoredObject>();
  readonly #changeListeners = new Set<() => void>();
  /** Keys in order; undefined after an insertion or a deletion, until somebody lists. */
  #sorted: string[] | undefined;
  /** Events that arrive while the first list is read. */
  #early: KeyEvent[] | undefined;
  #ready: Promise<void> | undefined;
  #loadedRevision = 0;

  constructor(backend: Backend, feed: StoreFeed, prefix: string) {
    this.#backend = backend;
    this.#feed = feed;
    this.prefix = prefix;
    this.log = new EventLog();
  }

  /** Reads what is stored, once; later calls wait for the same reading. */
  ready(): Promise<void> {
    this.#ready ??= this.#load().catch((error: unknown) => {
      this.#ready = undefined;
      this.#feed.unsubscribe(this.prefix);
      throw error;
    });
    return this.#ready;
  }

  /** Begins to read what is stored, for those who can do without it for now. */
  warm(): void {
    if (!this.#ready) void this.ready().catch(() => {});
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** Objects whose keys begin with `prefix` and come after `startAfter`, in order. */
  *range(prefix: string, startAfter = ''): IterableIterator<StoredObject> {
    const keys = this.#sortedKeys();
    const from = startAfter > prefix ? firstAbove(keys, startAfter) : firstAtLeast(keys, prefix);
    for (let index = from; index < keys.length; index++) {
      const key = keys[index]!;
      if (!key.startsWith(prefix)) return;
      yield this.#objects.get(key)!;
    }
  }

  countFrom(prefix: string): number {
    const keys = this.#sortedKeys();
    if (prefix === this.prefix) return keys.length;
    return firstAtLeast(keys, `${prefix.slice(0, -1)}0`) - firstAtLeast(keys, prefix);
  }

  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  take(event: KeyEvent): void {
    if (this.#early) {
      this.#early.push(event);
      return;
    }
    this.#apply(event);
    for (const listener of this.#changeListeners) listener();
  }

  /** Watches end and clients read anew, as they must after `410 Gone`. */
  reset(): void {
    this.#objects.clear();
    this.#sorted = undefined;
    this.#ready = undefined;
    this.log.reset(this.#feed.revision);
    void this.ready().catch(() => {});
  }

  async #load(): Promise<void> {
    await this.#feed.started;
    this.#early = [];
    this.#feed.subscribe(this.prefix, this);
    const { items, revision } = await this.#backend.list(this.prefix);
    for (const item of items) {
      const stored = new StoredObject(item);
      this.#objects.set(stored.key, stored);
    }
    this.#sorted = undefined;
    this.#loadedRevision = revision;
    this.log.reset(revision);
    const early = this.#early;
    this.#early = undefined;
    for (const event of early) this.#apply(event);
    // The list may be newer than what the feed has delivered: nothing older than the list may be told as its state.
    await this.#feed.waitFor(revision);
    for (const listener of this.#changeListeners) listener();
  }

  #apply(event: KeyEvent): void {
    // The feed may bring again what the first list had already.
    if (event.revision <= this.#loadedRevision) return;
    if (event.type === 'put') {
      const current = new StoredObject(event.current);
      const previous = this.#objects.get(current.key);
      if (!previous) this.#sorted = undefined;
      this.#objects.set(current.key, current);
      this.log.append(new CacheEvent(event.revision, current, previous));
      return;
    }
    const key = event.key.toString('utf8');
    const previous = this.#objects.get(key);
    if (!previous) return;
    this.#objects.delete(key);
    this.#sorted = undefined;
    this.log.append(new CacheEvent(event.revision, undefined, previous));
  }

  #sortedKeys(): string[] {
    this.#sorted ??= [...this.#objects.keys()].sort();
    return this.#sorted;
  }
}

function firstAtLeast(keys: readonly string[], bound: string): number {
  return search(keys, (key) => key >= bound);
}

function firstAbove(keys: readonly string[], bound: string): number {
  return search(keys, (key) => key > bound);
}

function search(keys: readonly string[], holds: (key: string) => boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(keys[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
