import type { JsonObject } from '../../kube/json.js';
import type { GroupResource, ObjectReader } from '../contracts/object-reader.js';
import { builtInPrefix } from '../registry/storage-layout.js';
import type { Backend } from '../storage/backend.js';
import { ResourceCache } from './resource-cache.js';
import type { StoreFeed } from './store-feed.js';

export function storageKey(prefix: string, namespace: string, name: string): string {
  return namespace === '' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`;
}

/**
 * The caches of all resources, each created at its first use: by prefix for any resource, by group and
 * resource (`load`, and as an ObjectReader) for built-in ones.
 */
export class Caches implements ObjectReader {
  readonly #backend: Backend;
  readonly #feed: StoreFeed;
  readonly #byPrefix = new Map<string, ResourceCache>();

  constructor(backend: Backend, feed: StoreFeed) {
    this.#backend = backend;
    this.#feed = feed;
  }

  of(prefix: string): ResourceCache {
    let cache = this.#byPrefix.get(prefix);
    if (!cache) {
      cache = new ResourceCache(this.#backend, this.#feed, prefix);
      this.#byPrefix.set(prefix, cache);
    }
    return cache;
  }

  /** Resolves when the resources can be read synchronously. */
  async load(resources: readonly GroupResource[]): Promise<void> {
    await Promise.all(resources.map((each) => this.of(builtInPrefix(each)).ready()));
  }

  get(what: GroupResource, namespace: string, name: string): JsonObject | undefined {
    const prefix = builtInPrefix(what);
    return this.#reading(prefix).get(storageKey(prefix, namespace, name))?.object;
  }

  list(what: GroupResource, namespace = ''): readonly JsonObject[] {
    const prefix = builtInPrefix(what);
    const range = this.#reading(prefix).range(namespace === '' ? prefix : `${prefix}${namespace}/`);
    return Array.from(range, (each) => each.object);
  }

  onChange(what: GroupResource, listener: () => void): () => void {
    return this.#reading(builtInPrefix(what)).onChange(listener);
  }

  #reading(prefix: string): ResourceCache {
    const cache = this.of(prefix);
    // Listeners are called once the resource is loaded.
    cache.warm();
    return cache;
  }
}
