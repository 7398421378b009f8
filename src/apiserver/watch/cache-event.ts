import { StoredObject } from './stored-object.js';

/** A change, with what was there before: selectors need both. One of the two is always there. */
export class CacheEvent {
  #gone: StoredObject | undefined;

  constructor(
    readonly revision: number,
    /** Undefined for a deletion. */
    readonly current: StoredObject | undefined,
    readonly previous: StoredObject | undefined,
  ) {}

  /** What was there before, at the revision of its end: what clients are told of something deleted or no longer selected. */
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

  /** Nearly everybody has read it: what only it still needs is kept as bytes. Parsed objects take many times the room. */
  settle(): void {
    this.previous?.release();
    this.#gone = undefined;
  }
}
