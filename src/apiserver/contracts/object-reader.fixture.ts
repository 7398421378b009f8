import { isObject, type JsonObject } from '../../kube/json.js';
import type { GroupResource, ObjectReader } from './object-reader.js';

/** What is stored, held in memory; a change calls back those who follow the resource. */
export class FakeObjects implements ObjectReader {
  readonly #objects = new Map<string, Map<string, JsonObject>>();
  readonly #listeners = new Map<string, Set<() => void>>();

  put(what: GroupResource, object: JsonObject): void {
    const key = keyOf(what);
    const { name, namespace } = isObject(object['metadata']) ? object['metadata'] : {};
    const all = this.#objects.get(key) ?? new Map<string, JsonObject>();
    all.set(`${namespace ?? ''}/${name}`, object);
    this.#objects.set(key, all);
    this.#tell(key);
  }

  remove(what: GroupResource, namespace: string, name: string): void {
    this.#objects.get(keyOf(what))?.delete(`${namespace}/${name}`);
    this.#tell(keyOf(what));
  }

  get(what: GroupResource, namespace: string, name: string): JsonObject | undefined {
    return this.#objects.get(keyOf(what))?.get(`${namespace}/${name}`);
  }

  list(what: GroupResource, namespace?: string): readonly JsonObject[] {
    const all = [...(this.#objects.get(keyOf(what)) ?? [])].sort(([left], [right]) => (left < right ? -1 : 1));
    return all.filter(([key]) => namespace === undefined || key.startsWith(`${namespace}/`)).map(([, each]) => each);
  }

  onChange(what: GroupResource, listener: () => void): () => void {
    const listeners = this.#listeners.get(keyOf(what)) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(keyOf(what), listeners);
    return () => listeners.delete(listener);
  }

  #tell(key: string): void {
    for (const listener of this.#listeners.get(key) ?? []) listener();
  }
}

function keyOf({ group, resource }: GroupResource): string {
  return `${group}/${resource}`;
}
