import type { CacheEvent } from './cache-event.js';

/** Events of a resource kept in memory; watches that need older ones read them from the store. */
export const EVENTS_MAX = 4_096;
/** Events before the last ones are kept as bytes only, and parsed again for a slow reader. */
export const EVENTS_UNSETTLED_MAX = 256;
/** Bound on the bytes of all events, whatever their number. */
export const EVENT_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Waking a reader costs a write on its connection, even for one event. During a series of events readers
 * are woken at an interval in proportion to their number, and get the events of the interval in one
 * piece; the first event after a pause is sent at once.
 */
const WAKE_PAUSE_MS_PER_READER = 0.1;
const WAKE_PAUSE_MS_MIN = 1;
const WAKE_PAUSE_MS_MAX = 100;

/**
 * The latest events of a resource in order, shared by all its watches. A reader holds a position, not a
 * queue: a slow one costs nothing, and `at` returns `lost` for a position that is no longer kept.
 */
export class EventLog {
  #events: CacheEvent[] = [];
  /** Position of the first event kept. */
  #base = 0;
  #bytes = 0;
  /** Events up to this revision are not kept. */
  #beforeRevision = 0;
  #revision = 0;
  /** Increases with every reset, which invalidates all positions. */
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

  /** Returns whether all events after `revision` are kept. */
  reaches(revision: number): boolean {
    return revision >= this.#beforeRevision;
  }

  /** Returns the position of the first event after `revision`; undefined if that is no longer kept. */
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

  /** Returns the event at a position; `lost` if it is no longer kept, undefined after the last one. */
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

  /** Calls back once after some events or a reset, never synchronously. */
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

  /** Wakes all readers once for a batch of events. */
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
    // Half at a time, because each removal copies the rest.
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
