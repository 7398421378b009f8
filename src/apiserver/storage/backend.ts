import type { Clock } from '../../base/clock.js';

/**
 * The storage contract: keys, bytes and revisions. Every engine passes the suite in conformance/.
 *
 * A store has one sequence of revisions, increasing integers, over all keys and all processes that share
 * the store; it never decreases, not even after a crash. A write that changes something gets the next
 * revision, a failed one gets none. An empty store has revision 1.
 *
 * Keys are non-empty byte strings of at most `KEY_BYTES_MAX` bytes, ordered bytewise (a string means its
 * UTF-8 bytes, so the order is not that of JavaScript's `<`). Values are bytes and may be empty.
 *
 * Every method may be called at any time and concurrently. All failures are `StorageError`; after
 * `close()` every call fails with `closed`. Callers must not change the buffers of a call before it has
 * settled, and must never change returned buffers, which are shared.
 */
export interface Backend {
  /**
   * Returns the value of a key, or undefined. Without `revision` the result contains every write that any
   * process acknowledged before the call; with it, the result is the state at that revision.
   *
   * Fails with `compacted` for a compacted revision, with `future-revision` for one that does not exist yet.
   */
  get(key: Key, options?: ReadOptions): Promise<KeyValue | undefined>;

  /** Returns whether the value written at `modRevision` is the newest: cheaper than `get` for a cached value. */
  isNewest(key: Key, modRevision: number): Promise<boolean>;

  /**
   * Returns the keys that begin with `prefix` (all for the empty prefix), in order, at one revision: the
   * given one, or the newest. For the next page, repeat with `revision` of the result and its last key as
   * `startAfter`: all pages are one consistent snapshot. Fails as `get` does.
   */
  list(prefix: Key, options?: KeyListOptions): Promise<ListResult>;

  /** Writes a key that has no value. Resolves once durable. Fails with `exists`, which has the current value. */
  create(key: Key, value: Uint8Array, options?: KeyWriteOptions): Promise<KeyValue>;

  /**
   * Replaces the value that was written at `expectedModRevision`, and its time to live: without
   * `ttlSeconds` the new value does not expire. Resolves once durable. Fails with `conflict`, which has the
   * current value, or `not-found`.
   */
  update(key: Key, value: Uint8Array, expectedModRevision: number, options?: KeyWriteOptions): Promise<KeyValue>;

  /**
   * Removes a key. Resolves once durable. Fails with `not-found`, or with `conflict` if
   * `expectedModRevision` is given and is not the current one.
   */
  delete(key: Key, expectedModRevision?: number): Promise<DeleteResult>;

  /**
   * Iterates over the events of keys with this prefix from `fromRevision` on, inclusive, in revision order,
   * each once, of all processes. The start may be any revision that is not compacted, or a future one.
   * Returns at once; the iteration throws failures.
   *
   * A watch holds bounded memory however slow its reader is: it reads the store. If its next events are
   * compacted, the iteration throws `compacted`: list and watch again.
   */
  watch(prefix: Key, options: KeyWatchOptions): Watch;

  /** Returns the newest revision: that of the last write of any process before the call, or a later one. */
  currentRevision(): Promise<number>;

  /**
   * Removes all history before `revision`: reads at earlier revisions fail from then on. Resolves once that
   * is durable; space is freed later. Does nothing at or before the last compaction; fails with
   * `future-revision` after the newest revision.
   */
  compact(revision: number): Promise<void>;

  /** Ends all watches, waits for pending writes, and closes all files, sockets and timers. May be called twice. */
  close(): Promise<void>;
}

export type Key = string | Uint8Array;

/** The smallest limit of all engines. The longest usual keys of Kubernetes have less than 700 bytes. */
export const KEY_BYTES_MAX = 960;

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  /** The revision of the write that created the key, after its last deletion. */
  readonly createRevision: number;
  /** The revision of the last write. */
  readonly modRevision: number;
}

export interface ReadOptions {
  /** The revision to read; the newest by default. */
  readonly revision?: number;
}

export interface KeyListOptions extends ReadOptions {
  /** Bound on the number of keys. */
  readonly limit?: number;
  /** Only keys after this one, which need not exist. */
  readonly startAfter?: Key;
}

export interface ListResult {
  readonly items: KeyValue[];
  /** The revision of the list. */
  readonly revision: number;
  /** The number of keys after the last item. */
  readonly remainingCount: number;
}

export interface KeyWriteOptions {
  /**
   * Time to live: the key is deleted, with an event and a revision, this long after the write. Never
   * sooner, usually within two seconds, later while no process has the store open or if an engine groups
   * keys.
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
   * Requests a batch, possibly empty, whose revision is at least the store's at the time of this call. Empty
   * batches are also sent unasked, at intervals, while the prefix has no events.
   */
  requestProgress(): void;
  /** Ends the iteration without an error, as leaving the loop does. May be called at any time, and twice. */
  close(): void;
}

export interface WatchBatch {
  /** In revision order. All events of one revision are in one batch. */
  readonly events: readonly KeyEvent[];
  /** All events under the prefix up to this revision are in this batch or earlier ones. Never decreases. */
  readonly revision: number;
}

export type KeyEvent = PutEvent | DeleteEvent;

export interface PutEvent {
  readonly type: 'put';
  readonly revision: number;
  readonly current: KeyValue;
  /** The previous value; undefined if the write created the key, or if that value is compacted. */
  readonly previous: KeyValue | undefined;
}

export interface DeleteEvent {
  readonly type: 'delete';
  readonly revision: number;
  readonly key: Buffer;
  /** The deleted value; undefined only if it is compacted. */
  readonly previous: KeyValue | undefined;
}
