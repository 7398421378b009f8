import { isMeant, type ObservedObject, type OwnerReference } from './owner-reference.js';

type Gone = Pick<ObservedObject, 'group' | 'kind' | 'namespace' | 'name'>;

/** Objects that a watch reported as deleted. A UID is never reused. */
export class GoneObjects {
  readonly #byUid = new Map<string, Gone>();
  readonly #max: number;

  constructor(max = OBJECTS_MAX) {
    this.#max = max;
  }

  add({ uid, group, kind, namespace, name }: ObservedObject): void {
    this.#byUid.set(uid, { group, kind, namespace, name });
    if (this.#byUid.size <= this.#max) return;
    // Drops the oldest: it can still be read from the server.
    for (const oldest of this.#byUid.keys()) {
      this.#byUid.delete(oldest);
      return;
    }
  }

  /** Returns whether the reference of a dependent in this namespace names a deleted object. */
  has(reference: OwnerReference, dependentNamespace: string): boolean {
    const gone = this.#byUid.get(reference.uid);
    return gone !== undefined && isMeant(reference, dependentNamespace, gone);
  }
}

const OBJECTS_MAX = 10_000;
