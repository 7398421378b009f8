import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../../base/clock.js';
import type { KeyEvent, WatchBatch } from '../../backend.js';
import { EngineWatch } from '../../engine-watch.js';
import { hasPrefix } from '../../keys.js';
import type { EventTail } from './event-tail.js';

/** Interval of batches without events, which report the progress of a watch on a quiet prefix. */
const PROGRESS_INTERVAL_MS = 5_000;

/** A position in the log. There is no queue: a slow reader is further back and reads the log on disk. */
export class LogWatch extends EngineWatch {
  readonly #tail: EventTail;
  readonly #prefix: Buffer;
  readonly #clock: Clock;
  #nextRevision: number;
  #reportedRevision = 0;
  #progressWanted = false;
  #wake: (() => void) | undefined;

  constructor(tail: EventTail, place: { prefix: Buffer; fromRevision: number }, clock: Clock, open: Set<EngineWatch>) {
    super(open);
    this.#tail = tail;
    this.#prefix = place.prefix;
    this.#nextRevision = place.fromRevision;
    this.#clock = clock;
  }

  requestProgress(): void {
    this.#progressWanted = true;
    this.#wake?.();
  }

  protected release(): void {
    this.#wake?.();
  }

  protected async *batches(): AsyncGenerator<WatchBatch, void> {
    while (!this.isEnded) {
      const batch = this.#step();
      if (batch !== undefined) {
        this.#reportedRevision = batch.revision;
        yield batch;
      } else if (this.#atEnd()) await this.#growth();
      // Skipping many events of other prefixes must not block the event loop.
      else await nextTurn();
    }
  }

  /** Reads one chunk; undefined if it has neither events nor the requested progress. */
  #step(): WatchBatch | undefined {
    const wanted = this.#progressWanted ? this.#tail.refresh() : undefined;
    const chunk = this.#tail.read(this.#nextRevision);
    const events = chunk.events.filter((event) => hasPrefix(keyOf(event), this.#prefix));
    const revision = chunk.throughRevision;
    // Not simply after the chunk: a watch may start at a future revision.
    this.#nextRevision = Math.max(this.#nextRevision, revision + 1);
    const answersProgress = wanted !== undefined && revision >= wanted;
    if (answersProgress) this.#progressWanted = false;
    return events.length > 0 || answersProgress ? { events, revision } : undefined;
  }

  #atEnd(): boolean {
    return this.#tail.read(this.#nextRevision).events.length === 0;
  }

  /** Waits for a commit, a progress request, the end, or the time to report progress unasked. */
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
