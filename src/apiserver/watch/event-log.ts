import type { CacheEvent } from './cache-event.js';

/** Events kept in memory per resource; watches that need older ones read them from the store. */
export const EVENTS_MAX = 4_096;
/** Of older events only the bytes are kept, and parsed again for a reader that is so far behind. */
export const EVENTS_UNSETTLED_MAX = 256;
/** However few they are, events together hold at most about this much. */
export const EVENT_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Waking readers costs each reader's connection a write, however little there is to tell. While events keep coming, they
 * are therefore woken only so often that this takes a bounded share of the time: a tenth of a millisecond between times
 * for every reader. What comes meanwhile goes out in one piece; what comes after a pause goes out at once.
 */
const WAKE_PAUSE_MS_PER_READER = 0.1;
const WAKE_PAUSE_MS_MIN = 1;
const WAKE_PAUSE_MS_MAX = 100;

/**
 * The latest events of a resource in order, shared by all who watch it. A reader holds a position, not a queue: a slow
 * one costs nothing, and learns from `read` when it has fallen out.
 */
export class EventLog {
  #events: CacheEvent[] = [];
  /** Position of the first event kept. */
  #base = 0;
  #bytes = 0;
  /** Events up to here are not (or no longer) kept. */
  #beforeRevision = 0;
  #revision = 0;
  /** Grows with every reset: positions of before mean nothing after. */
  #generation = 0;
  #waking = false;
  #wokenAtMs = 0;
  readonly #wakers = new Set<() => void>();

  get revision(): number {
    return this.#revision;
  }

  get generation(): number {
    return this.#generation;
  }

  /** The position after the last event. */
  get end(): number {
    return this.#base + this.#events.length;
  }

  /** Events after `revision` are all here. */
  reaches(revision: number): boolean {
    return revision >= this.#beforeRevision;
  }

  /** The position of the first event after `revision`; undefined where that is no longer kept. */
  positionAfter(revision: number): number | undefined {
    if (!this.reaches(revision)) return undefined;
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return this.#base + low;
  }

  /** The event at a position; `lost` where it is no longer kept, undefined where it has not happened yet. */
  at(position: number): CacheEvent | 'lost' | undefined {
    if (position < this.#base) return 'lost';
    return this.#events[position - this.#base];
  }

  append(event: CacheEvent): void {
    this.#events.push(event);
    this.#revision = event.revision;
    this.#bytes += bytesOf(event);
    this.#events[this.#events.length - 1 - EVENTS_UNSETTLED_MAX]?.settle();
    this.#evict();
    this.#wakeSoon();
  }

  /** Calls back once after some events, or a reset, in a moment: never within the call that brings them. */
  onAppend(wake: () => void): () => void {
    this.#wakers.add(wake);
    return () => this.#wakers.delete(wake);
  }

  reset(revision: number): void {
    this.#base = this.end;
    this.#events = [];
    this.#bytes = 0;
    this.#beforeRevision = revision;
    this.#revision = revision;
    this.#generation++;
    this.#wakeSoon();
  }

  /** Events come in batches; thousands of readers are woken once a batch. */
  #wakeSoon(): void {
    if (this.#waking) return;
    this.#waking = true;
    const pauseMs = Math.min(WAKE_PAUSE_MS_MAX, this.#wakers.size * WAKE_PAUSE_MS_PER_READER);
    const waitMs = pauseMs < WAKE_PAUSE_MS_MIN ? 0 : this.#wokenAtMs + pauseMs - performance.now();
    if (waitMs <= 0) queueMicrotask(() => this.#wake());
    else setTimeout(() => this.#wake(), waitMs);
  }

  #wake(): void {
    this.#waking = false;
    this.#wokenAtMs = performance.now();
    for (const wake of this.#wakers) wake();
  }

  #evict(): void {
    const isTooMuch = this.#events.length > EVENTS_MAX * 2 || this.#bytes > EVENT_BYTES_MAX;
    if (!isTooMuch) return;
    // Half at a time: shifting one by one would cost a copy per event.
    let drop = Math.max(1, this.#events.length - EVENTS_MAX);
    let bytes = this.#bytes;
    for (let index = 0; index < drop; index++) bytes -= bytesOf(this.#events[index]!);
    while (bytes > EVENT_BYTES_MAX / 2 && drop < this.#events.length) bytes -= bytesOf(this.#events[drop++]!);
    this.#beforeRevision = this.#events[drop - 1]!.revision;
    this.#events.splice(0, drop);
    this.#base += drop;
    this.#bytes = bytes;
  }
}

function bytesOf({ current, previous }: CacheEvent): number {
  return (current?.value.byteLength ?? 0) + (previous?.value.byteLength ?? 0);
}
