import { isObject, type JsonObject } from '../../kube/json.js';
import type { GroupResource, ObjectReader } from '../contracts/object-reader.js';

/** What would be stored, held in memory; changes tell whoever listens, as the watch caches do. */
export class StoredObjects implements ObjectReader {
  readonly #objects = new Map<string, JsonObject>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** How often lists were read, to see what is kept. */
  lists = 0;

  constructor(objects: readonly JsonObject[] = []) {
    for (const object of objects) this.put(object);
  }

  put(object: JsonObject): void {
    this.#objects.set(keyOf(object), object);
    this.#tell(typeKey(object));
  }

  remove(object: JsonObject): void {
    this.#objects.delete(keyOf(object));
    this.#tell(typeKey(object));
  }

  get({ group, resource }: GroupResource, namespace: string, name: string): JsonObject | undefined {
    return this.#objects.get(`${group}/${resource}/${namespace}/${name}`);
  }

  list({ group, resource }: GroupResource, namespace?: string): readonly JsonObject[] {
    this.lists++;
    const prefix = `${group}/${resource}/${namespace === undefined ? '' : `${namespace}/`}`;
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => this.#objects.get(key)!);
  }

  onChange({ group, resource }: GroupResource, listener: () => void): () => void {
    const key = `${group}/${resource}`;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  #tell(type: string): void {
    for (const listener of this.#listeners.get(type) ?? []) listener();
  }
}

function typeKey({ apiVersion, kind }: JsonObject): string {
  const [first, second] = String(apiVersion).split('/');
  return `${second === undefined ? '' : first}/${String(kind).toLowerCase()}s`;
}

function keyOf(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return `${typeKey(object)}/${metadata.namespace ?? ''}/${metadata.name}`;
}
