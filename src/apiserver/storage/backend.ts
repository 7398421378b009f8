import type { Clock } from '../../base/clock.js';

/**
 * The storage contract: keys, bytes and revisions; no objects. Every engine passes the suite in conformance/.
 *
 * Revisions. A store has one sequence of revisions, whole numbers that only grow, over all keys and all processes that
 * share the store, and that never goes back, not after a crash either. A write that changes something gets the next
 * revision; one that fails gets none. An empty store stands at revision 1.
 *
 * Keys are non-empty byte strings of at most `KEY_BYTES_MAX` bytes, ordered byte by byte (a string stands for its UTF-8
 * bytes, so the order is not that of JavaScript's `<`). Values are bytes, possibly none.
 *
 * Every method may be called at any time and concurrently. All failures are `StorageError`; after `close()` every call
 * fails with the code `closed`. Buffers handed in must not be changed until the call is over; buffers handed out are
 * shared between callers and must not be changed at all.
 */
export interface Backend {
  /**
   * The key's value, or undefined where it has none. Without `revision` the answer contains every write acknowledged,
   * by any process, before the call. With it, the answer is that of the store as it stood after that revision.
   *
   * Fails with `compacted` where the revision's history is gone, with `future-revision` where it does not exist yet.
   */
  get(key: Key, options?: ReadOptions): Promise<KeyValue | undefined>;

  /**
   * Whether `get` without a revision would answer what was written to the key at `modRevision`. For those who hold that
   * value already: cheaper than reading it again.
   */
  isNewest(key: Key, modRevision: number): Promise<boolean>;

  /**
   * The keys that begin with `prefix` (the empty prefix: all), in order, as they stood at one revision: the one asked
   * for, or the newest. To read on, repeat with the `revision` of the answer and `startAfter` its last key: all pages
   * together are one consistent snapshot, whatever is written meanwhile. Fails as `get` does.
   */
  list(prefix: Key, options?: KeyListOptions): Promise<ListResult>;

  /** Writes a key that has no value. Resolves once durable. Fails with `exists`, which carries the present value. */
  create(key: Key, value: Uint8Array, options?: KeyWriteOptions): Promise<KeyValue>;

  /**
   * Replaces the value that was written at `expectedModRevision`, and its time to live: without `ttlSeconds` the new
   * value stays for good. Resolves once durable. Fails with `conflict` (carries the present value) or `not-found`.
   */
  update(key: Key, value: Uint8Array, expectedModRevision: number, options?: KeyWriteOptions): Promise<KeyValue>;

  /**
   * Removes a key and resolves, once durable, with what was removed and the revision of the removal. Fails with
   * `not-found`, or with `conflict` where `expectedModRevision` is given and is not the present one.
   */
  delete(key: Key, expectedModRevision?: number): Promise<DeleteResult>;

  /**
   * Everything that happens to keys with this prefix from `fromRevision` on, inclusive, in revision order, each event
   * once, whichever process wrote it. May start anywhere in the history that is not compacted, or in the future.
   * Returns at once; failures come out of the iteration.
   *
   * A watch holds a bounded amount of memory however slow its reader is: it reads on from the store. If what it has
   * still to read is compacted meanwhile (or was before), the iteration ends with `compacted`: list again, watch again.
   */
  watch(prefix: Key, options: KeyWatchOptions): Watch;

  /** The newest revision: that of the last write acknowledged by any process before the call, or a later one. */
  currentRevision(): Promise<number>;

  /**
   * Forgets all history before `revision`: reads at earlier revisions fail from then on, reads at `revision` and later
   * do not. Resolves once that is durable; space is freed at leisure. Compacting at or before the last compaction
   * does nothing; after the newest revision fails with `future-revision`.
   */
  compact(revision: number): Promise<void>;

  /** Ends all watches, waits for writes under way, lets go of every file, socket and timer. May be called twice. */
  close(): Promise<void>;
}

export type Key = string | Uint8Array;

/** Engines differ in what they could take; this much all can. Kubernetes' longest ordinary keys stay under 700 bytes. */
export const KEY_BYTES_MAX = 960;

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  /** The revision of the write that made the key (again, if it had been deleted). */
  readonly createRevision: number;
  /** The revision of the last write to it. */
  readonly modRevision: number;
}

export interface ReadOptions {
  /** Read the store as it stood at this revision, not as it is now. */
  readonly revision?: number;
}

export interface KeyListOptions extends ReadOptions {
  /** At most this many; none means all. */
  readonly limit?: number;
  /** Only keys after this one. It need not exist (any more). */
  readonly startAfter?: Key;
}

export interface ListResult {
  readonly items: KeyValue[];
  /** The revision at which the list was taken. */
  readonly revision: number;
  /** How many more keys there are after the last item; 0 means that this was the end. */
  readonly remainingCount: number;
}

export interface KeyWriteOptions {
  /**
   * The key is deleted (an ordinary delete event with its own revision) this long after the write: never sooner,
   * usually within two seconds, later if no process with the store open is alive, or in engines that gather keys.
   */
  readonly ttlSeconds?: number;
}

export interface CompactionPolicy {
  /** Minimum age of compacted history, unless `historyRevisionsMax` is exceeded. 0 disables compaction. */
  readonly historyMs: number;
  /** Bound on the revisions kept, whatever their age. */
  readonly historyRevisionsMax: number;
}

/** Options of every engine. */
export interface EngineOptions {
  readonly clock?: Clock;
  readonly compaction?: CompactionPolicy;
  /** Bound on the bytes of a value. */
  readonly valueBytesMax?: number;
  /** Called for failures of background work, which is retried. */
  readonly onError?: (error: unknown) => void;
}

export interface DeleteResult {
  readonly deleted: KeyValue;
  /** The revision of the removal. */
  readonly revision: number;
}

export interface KeyWatchOptions {
  readonly fromRevision: number;
}

export interface Watch extends AsyncIterable<WatchBatch> {
  /**
   * Asks for a batch, possibly empty, whose revision is at least the store's at the time of this call. Batches that say
   * only that also come unasked, now and then, while nothing happens under the prefix.
   */
  requestProgress(): void;
  /** Ends the iteration without an error. May be called at any time, twice too. Leaving the loop does the same. */
  close(): void;
}

export interface WatchBatch {
  /** In revision order. Events of one revision always come in one batch. */
  readonly events: readonly KeyEvent[];
  /** Every event under the prefix up to and including this revision has now been delivered. Grows from batch to batch. */
  readonly revision: number;
}

export type KeyEvent = PutEvent | DeleteEvent;

export interface PutEvent {
  readonly type: 'put';
  readonly revision: number;
  readonly current: KeyValue;
  /** What the key held before; undefined where this write made it, or where that is compacted already. */
  readonly previous: KeyValue | undefined;
}

export interface DeleteEvent {
  readonly type: 'delete';
  readonly revision: number;
  readonly key: Buffer;
  /** What was deleted; undefined only where that is compacted already. */
  readonly previous: KeyValue | undefined;
}
