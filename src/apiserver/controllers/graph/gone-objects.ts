import { isMeant, type ObservedObject, type OwnerReference } from './owner-reference.js';

type Gone = Pick<ObservedObject, 'group' | 'kind' | 'namespace' | 'name'>;

/** Objects that a watch has reported as deleted. A uid never comes back, so this can be believed for ever. */
export class GoneObjects {
  readonly #byUid = new Map<string, Gone>();
  readonly #max: number;

  constructor(max = OBJECTS_MAX) {
    this.#max = max;
  }

  add({ uid, group, kind, namespace, name }: ObservedObject): void {
    this.#byUid.set(uid, { group, kind, namespace, name });
    if (this.#byUid.size <= this.#max) return;
    // The oldest: whoever needs to know it still can ask the server.
    for (const oldest of this.#byUid.keys()) {
      this.#byUid.delete(oldest);
      return;
    }
  }

  /** Whether it is the very object that a dependent in this namespace refers to. */
  has(reference: OwnerReference, dependentNamespace: string): boolean {
    const gone = this.#byUid.get(reference.uid);
    return gone !== undefined && isMeant(reference, dependentNamespace, gone);
  }
}

const OBJECTS_MAX = 10_000;
