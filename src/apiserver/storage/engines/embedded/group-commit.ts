import type { KeyEvent } from '../../backend.js';
import { failures, isStorageError, StorageError } from '../../storage-error.js';
import type { Tables } from './tables.js';
import { WriteTransaction } from './write-transaction.js';

export interface GroupCommitLimits {
  /** Bound on waiting writes; more are refused, so that a stalled disk cannot exhaust the memory. */
  readonly pendingWritesMax: number;
  readonly pendingBytesMax: number;
}

/** Bounds on one transaction, which blocks this thread and the writers of other processes. */
const BATCH_WRITES_MAX = 512;
const BATCH_BYTES_MAX = 8 * 2 ** 20;

interface PendingWrite {
  readonly bytes: number;
  readonly apply: (transaction: WriteTransaction) => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: StorageError) => void;
}

type Outcome = { readonly result: unknown } | { readonly error: StorageError };

/**
 * Group commit: writes that arrive while the disk is busy share the next transaction and its sync. lmdb's
 * thread waits for the lock and syncs; only the changes run on this thread.
 */
export class GroupCommit {
  readonly #tables: Tables;
  readonly #nowMs: () => number;
  readonly #limits: GroupCommitLimits;
  readonly #onCommit: (events: readonly KeyEvent[]) => void;
  #pending: PendingWrite[] = [];
  #pendingBytes = 0;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(
    tables: Tables,
    nowMs: () => number,
    limits: GroupCommitLimits,
    onCommit: (events: readonly KeyEvent[]) => void,
  ) {
    this.#tables = tables;
    this.#nowMs = nowMs;
    this.#limits = limits;
    this.#onCommit = onCommit;
  }

  /** Resolves when the changes of `apply` are durable. A StorageError that it throws fails this write only. */
  write<T>(bytes: number, apply: (transaction: WriteTransaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(failures.closed());
    const { pendingWritesMax, pendingBytesMax } = this.#limits;
    if (this.#pending.length >= pendingWritesMax || this.#pendingBytes + bytes > pendingBytesMax) {
      return Promise.reject(new StorageError('unavailable', 'too many writes are waiting for the disk'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ bytes, apply, resolve, reject });
      this.#pendingBytes += bytes;
      this.#running ??= this.#run();
    });
  }

  /** Refuses new writes and waits for pending ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // All writes of this turn of the event loop join the first transaction.
    await Promise.resolve();
    while (this.#pending.length > 0) await this.#commit(this.#takeBatch());
    this.#running = undefined;
  }

  #takeBatch(): PendingWrite[] {
    let bytes = 0;
    let count = 0;
    for (const write of this.#pending) {
      if (count === BATCH_WRITES_MAX || (count > 0 && bytes + write.bytes > BATCH_BYTES_MAX)) break;
      bytes += write.bytes;
      count++;
    }
    this.#pendingBytes -= bytes;
    return this.#pending.splice(0, count);
  }

  async #commit(batch: PendingWrite[]): Promise<void> {
    const outcomes: Outcome[] = [];
    let events: readonly KeyEvent[] = [];
    try {
      // A child transaction is rolled back if a change throws; a plain one would not be.
      await this.#tables.root.childTransaction(() => {
        const transaction = new WriteTransaction(this.#tables, this.#nowMs());
        for (const write of batch) outcomes.push(attempt(write, transaction));
        transaction.finish();
        events = transaction.events;
      });
    } catch (cause) {
      const error = commitFailure(cause, outcomes.length === batch.length);
      for (const write of batch) write.reject(error);
      return;
    }
    this.#onCommit(events);
    batch.forEach((write, index) => {
      const outcome = outcomes[index]!;
      if ('error' in outcome) write.reject(outcome.error);
      else write.resolve(outcome.result as never);
    });
  }
}

function attempt(write: PendingWrite, transaction: WriteTransaction): Outcome {
  try {
    return { result: write.apply(transaction) };
  } catch (error) {
    if (isStorageError(error)) return { error };
    throw error;
  }
}

function commitFailure(cause: unknown, allApplied: boolean): StorageError {
  // lmdb keeps the error of the commit in a promise, which would be an unhandled rejection.
  void (cause as { commitError?: Promise<unknown> }).commitError?.catch(() => {});
  const message = cause instanceof Error ? cause.message : String(cause);
  return allApplied
    ? new StorageError('uncertain', `the disk did not confirm the write: ${message}`, { cause })
    : new StorageError('unavailable', `the store took no write: ${message}`, { cause });
}
