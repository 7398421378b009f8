/** State that the API servers of one control plane share: objects by path, revisions and watches. */

export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion?: string;
    readonly uid?: string;
    readonly labels?: Record<string, string>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly revision: number;
  readonly object: StoredObject;
}

export class SharedStorage {
  readonly #objects = new Map<string, StoredObject>();
  readonly #listeners = new Set<(event: StoredEvent) => void>();
  readonly #history: StoredEvent[] = [];
  revision = 100;

  list(collection: string): StoredObject[] {
    return [...this.#objects].filter(([path]) => path.startsWith(`${collection}/`)).map(([, object]) => object);
  }

  get(collection: string, name: string): StoredObject | undefined {
    return this.#objects.get(`${collection}/${name}`);
  }

  put(collection: string, object: StoredObject): StoredObject {
    const path = `${collection}/${object.metadata.name}`;
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    const revision = ++this.revision;
    const stored = {
      ...object,
      metadata: { uid: `uid-${revision}`, ...object.metadata, resourceVersion: String(revision) },
    };
    this.#objects.set(path, stored);
    this.#emit({ type, collection, revision, object: stored });
    return stored;
  }

  remove(collection: string, name: string): StoredObject | undefined {
    const object = this.get(collection, name);
    if (!object) return undefined;
    const revision = ++this.revision;
    this.#objects.delete(`${collection}/${name}`);
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    this.#emit({ type: 'DELETED', collection, revision, object: last });
    return object;
  }

  /** Sends the events after a revision, then new ones; returns a function that stops. */
  watch(collection: string, afterRevision: number, listener: (event: StoredEvent) => void): () => void {
    const wanted = (event: StoredEvent) => {
      if (event.collection === collection) listener(event);
    };
    for (const event of this.#history) if (event.revision > afterRevision) wanted(event);
    this.#listeners.add(wanted);
    return () => this.#listeners.delete(wanted);
  }

  #emit(event: StoredEvent): void {
    this.#history.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}
