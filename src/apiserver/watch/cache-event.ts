import { StoredObject } from './stored-object.js';

/** A change with the object before and after it, of which selectors need both. At least one is defined. */
export class CacheEvent {
  #gone: StoredObject | undefined;

  constructor(
    readonly revision: number,
    /** Undefined for a deletion. */
    readonly current: StoredObject | undefined,
    readonly previous: StoredObject | undefined,
  ) {}

  /** The last object at the revision of this event: the object of a DELETED event. */
  get gone(): StoredObject {
    const last = this.previous ?? this.current!;
    this.#gone ??= new StoredObject({
      key: Buffer.from(last.key),
      value: last.value,
      createRevision: last.createRevision,
      modRevision: this.revision,
    });
    return this.#gone;
  }

  /** Releases parsed objects once nearly all readers have passed: bytes take a fraction of the memory. */
  settle(): void {
    this.previous?.release();
    this.#gone = undefined;
  }
}
