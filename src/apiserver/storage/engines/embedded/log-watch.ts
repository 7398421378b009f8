import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../../base/clock.js';
import type { KeyEvent, Watch, WatchBatch } from '../../backend.js';
import { hasPrefix } from '../../keys.js';
import { failures, StorageError } from '../../storage-error.js';
import type { EventTail } from './event-tail.js';

/** How often a watch that has nothing to say tells how far it has come. */
const PROGRESS_INTERVAL_MS = 5_000;

/**
 * A reader of the log with a place in it. It holds no queue: a slow reader is simply further back, and the log on disk
 * is what waits for it.
 */
export class LogWatch implements Watch {
  readonly #tail: EventTail;
  readonly #prefix: Buffer;
  readonly #clock: Clock;
  readonly #onEnd: (watch: LogWatch) => void;
  #nextRevision: number;
  #reportedRevision = 0;
  #state: 'new' | 'iterated' | 'closed' | 'store-closed' = 'new';
  #progressWanted = false;
  #wake: (() => void) | undefined;

  constructor(
    tail: EventTail,
    place: { prefix: Buffer; fromRevision: number },
    clock: Clock,
    onEnd: (watch: LogWatch) => void,
  ) {
    this.#tail = tail;
    this.#prefix = place.prefix;
    this.#nextRevision = place.fromRevision;
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  requestProgress(): void {
    this.#progressWanted = true;
    this.#wake?.();
  }

  close(): void {
    this.#end('closed');
  }

  /** The store goes away under the watch: its reader must not take that for a quiet end. */
  closeWithStore(): void {
    this.#end('store-closed');
  }

  #end(state: 'closed' | 'store-closed'): void {
    if (this.#ended()) return;
    this.#state = state;
    this.#onEnd(this);
    this.#wake?.();
  }

  #ended(): boolean {
    return this.#state === 'closed' || this.#state === 'store-closed';
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void> {
    if (this.#state === 'iterated') throw new StorageError('invalid', 'a watch can be read only once');
    if (this.#state === 'new') this.#state = 'iterated';
    try {
      while (!this.#ended()) {
        const batch = this.#step();
        if (batch !== undefined) {
          this.#reportedRevision = batch.revision;
          yield batch;
        } else if (this.#atEnd()) await this.#growth();
        // A long way through other prefixes' events must leave room for others.
        else await nextTurn();
      }
      if (this.#state === 'store-closed') throw failures.closed();
    } finally {
      this.close();
    }
  }

  /** Moves one chunk on; undefined where there is nothing to tell. */
  #step(): WatchBatch | undefined {
    const wanted = this.#progressWanted ? this.#tail.refresh() : undefined;
    const chunk = this.#tail.read(this.#nextRevision);
    const events = chunk.events.filter((event) => hasPrefix(keyOf(event), this.#prefix));
    const revision = chunk.throughRevision;
    // Not simply after the chunk: a watch may have been asked to start in the future.
    this.#nextRevision = Math.max(this.#nextRevision, revision + 1);
    const answersProgress = wanted !== undefined && revision >= wanted;
    if (answersProgress) this.#progressWanted = false;
    return events.length > 0 || answersProgress ? { events, revision } : undefined;
  }

  #atEnd(): boolean {
    return this.#tail.read(this.#nextRevision).events.length === 0;
  }

  /** Waits until there may be something to do. The reader's own silence is ended by a progress request of its own. */
  #growth(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#wake = undefined;
        stopListening();
        cancelTimer();
        resolve();
      };
      this.#wake = done;
      const stopListening = this.#tail.onGrowth(done);
      const cancelTimer = this.#clock.after(PROGRESS_INTERVAL_MS, () => {
        if (this.#nextRevision - 1 > this.#reportedRevision) this.#progressWanted = true;
        done();
      });
    });
  }
}

function keyOf(event: KeyEvent): Buffer {
  return event.type === 'put' ? event.current.key : event.key;
}
