import type { JsonObject } from '../../kube/json.js';
import type { Backend, KeyEvent } from '../storage/backend.js';
import { CacheEvent } from './cache-event.js';
import { EventLog } from './event-log.js';
import type { StoreFeed } from './store-feed.js';
import { StoredObject } from './stored-object.js';

/** The objects of a resource that a request selects, by key and by content. */
export interface Selection {
  /** Prefix of the keys of selected objects; if `isSingle`, the key of the only one. */
  readonly prefix: string;
  readonly isSingle: boolean;
  /** True if `matches` returns true for every object. */
  readonly takesAll: boolean;
  matches(object: JsonObject): boolean;
}

/**
 * All objects of one resource and their latest events, kept current by the feed. The store is read once
 * for any number of clients. Reads are consistent at the feed's revision.
 */
export class ResourceCache {
  readonly prefix: string;
  readonly log: EventLog;
  readonly #backend: Backend;
  readonly #feed: StoreFeed;
  readonly #objects = new Map<string, StoredObject>();
  readonly #changeListeners = new Set<() => void>();
  /** Keys in order; undefined after an insertion or a deletion, until the next list. */
  #sorted: string[] | undefined;
  /** Events that arrive during the first list; undefined after it. */
  #early: KeyEvent[] | undefined;
  #ready: Promise<void> | undefined;
  #loadedRevision = 0;

  constructor(backend: Backend, feed: StoreFeed, prefix: string) {
    this.#backend = backend;
    this.#feed = feed;
    this.prefix = prefix;
    this.log = new EventLog();
  }

  /** Resolves when the stored objects have been read, once for all calls. */
  ready(): Promise<void> {
    this.#ready ??= this.#load().catch((error: unknown) => {
      this.#ready = undefined;
      this.#feed.unsubscribe(this.prefix);
      throw error;
    });
    return this.#ready;
  }

  /** Starts to read the stored objects without waiting for them. */
  warm(): void {
    if (!this.#ready) void this.ready().catch(() => {});
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** The objects with the keys of a selection, in order, whether or not they match it. */
  select({ prefix, isSingle }: Selection): Iterable<StoredObject> {
    if (!isSingle) return this.range(prefix);
    const stored = this.#objects.get(prefix);
    return stored ? [stored] : [];
  }

  /** The objects whose keys begin with `prefix`, in order. */
  *range(prefix: string): IterableIterator<StoredObject> {
    const keys = this.#sortedKeys();
    for (let index = firstAtLeast(keys, prefix); index < keys.length; index++) {
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

  /** Reads all objects again. Open watches end with `410 Gone`. */
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
    // The list may be newer than the feed, at whose revision reads are reported.
    await this.#feed.waitFor(revision);
    for (const listener of this.#changeListeners) listener();
  }

  #apply(event: KeyEvent): void {
    // The feed may repeat events that the first list contains.
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

/** Returns the index of the first key that is not less than `bound`. */
function firstAtLeast(keys: readonly string[], bound: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! >= bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
