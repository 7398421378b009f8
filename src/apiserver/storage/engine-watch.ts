import type { Watch, WatchBatch } from './backend.js';
import { failures, StorageError } from './storage-error.js';

/** A watch of any engine: it can be iterated once, and ends by its reader or with its store. */
export abstract class EngineWatch implements Watch {
  readonly #open: Set<EngineWatch>;
  #state: 'new' | 'iterated' | 'closed' | 'store-closed' = 'new';

  /** `open` holds the open watches of the store, and this watch from now on until its end. */
  constructor(open: Set<EngineWatch>) {
    this.#open = open.add(this);
  }

  abstract requestProgress(): void;

  /** Returns when the watch has ended. */
  protected abstract batches(): AsyncGenerator<WatchBatch, void>;

  /** Called once, at the end: must stop everything that `batches` waits for. */
  protected abstract release(): void;

  protected get isEnded(): boolean {
    return this.#state === 'closed' || this.#state === 'store-closed';
  }

  close(): void {
    this.#end('closed');
  }

  /** Ends the watch because its store closes. The iteration throws `closed`, unlike after `close`. */
  closeWithStore(): void {
    this.#end('store-closed');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void> {
    if (this.#state === 'iterated') throw new StorageError('invalid', 'a watch can be read only once');
    if (this.#state === 'new') this.#state = 'iterated';
    try {
      yield* this.batches();
      if (this.#state === 'store-closed') throw failures.closed();
    } finally {
      this.close();
    }
  }

  #end(state: 'closed' | 'store-closed'): void {
    if (this.isEnded) return;
    this.#state = state;
    this.#open.delete(this);
    this.release();
  }
}
