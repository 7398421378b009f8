import type { CacheEvent } from './cache-event.js';

/** Events kept in memory per resource; watches that need older ones read them from the store. */
export const EVENTS_MAX = 4_096;
/** However few they are, events together hold at most about this much. */
export const EVENT_BYTES_MAX = 32 * 1024 * 1024;

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
    queueMicrotask(() => {
      this.#waking = false;
      for (const wake of this.#wakers) wake();
    });
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
