import type { Clock } from '../../base/clock.js';
import { WorkSlices } from '../../base/work-slices.js';
import { BodyStream } from '../../http/body-stream.js';
import { status } from '../../kube/status.js';
import type { Backend, KeyEvent, Watch } from '../storage/backend.js';
import { isStorageError } from '../storage/storage-error.js';
import { CacheEvent } from './cache-event.js';
import type { ResourceCache, Selection } from './resource-cache.js';
import type { StoreFeed } from './store-feed.js';
import { StoredObject } from './stored-object.js';
import type { EventType, WatchEncoder } from './watch-encoder.js';

/** The start of a watch: the current state (and a bookmark after it), or the events after a revision. */
export type WatchStart =
  | { readonly from: 'state'; readonly marksEnd: boolean }
  | { readonly from: 'revision'; readonly revision: number };

export interface WatchSessionOptions {
  readonly cache: ResourceCache;
  readonly backend: Backend;
  readonly feed: StoreFeed;
  readonly clock: Clock;
  readonly selection: Selection;
  readonly encoder: WatchEncoder;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

const BOOKMARK_EVERY_MS = 60_000;
/** Time of the last bookmark before the end, so that the client continues from there. */
const LAST_BOOKMARK_MS = 2_000;
/** Lines are sent in chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The watch of one client: a position in the log that all watches of the resource share, without a
 * queue. A client that reads slowly falls behind; one whose position was evicted from the log reads the
 * store until it reaches the log again.
 */
export class WatchSession {
  readonly body: BodyStream;
  readonly #options: WatchSessionOptions;
  readonly #endListeners: (() => void)[] = [];
  readonly #cancels: (() => void)[] = [];
  /** Every event up to this revision has been sent. */
  #revision = 0;
  #startRevision = 0;
  #position = 0;
  #generation = 0;
  #initial: Iterator<StoredObject> | undefined;
  #marksEnd = false;
  #following: Watch | undefined;
  #paused = false;
  #pumping = false;
  #done = false;
  #resumed: (() => void) | undefined;
  readonly #slices = new WorkSlices();
  #cancelBookmark: () => void = () => {};
  #lastBookmarkAtMs: number | undefined;

  constructor(options: WatchSessionOptions) {
    this.#options = options;
    this.body = new BodyStream({
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        this.#resumed?.();
        this.#wake();
      },
      cancel: () => this.#finish(),
    });
  }

  /** Must be called in the turn in which the cache was found to have reached the requested revision. */
  begin(): void {
    const { cache, feed, start, clock, timeoutMs, bookmarks } = this.#options;
    if (start.from === 'state') {
      // Copied references: changes during the reading of the state follow as events.
      this.#initial = [...cache.select(this.#options.selection)][Symbol.iterator]();
      this.#marksEnd = start.marksEnd;
    }
    this.#beginAfter(start.from === 'state' ? feed.revision : start.revision);
    this.#cancels.push(cache.log.onAppend(() => this.#wake()));
    this.#cancels.push(clock.after(timeoutMs, () => this.stop()));
    if (timeoutMs > LAST_BOOKMARK_MS) this.#lastBookmarkAtMs = clock.nowMs() + timeoutMs - LAST_BOOKMARK_MS;
    if (bookmarks) this.#bookmarkLater();
    this.#wake();
  }

  onEnd(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** Ends the stream without an error; the client may continue at another server. */
  stop(): void {
    if (this.#done) return;
    this.#finish();
    this.body.end();
  }

  #beginAfter(revision: number): void {
    const { log } = this.#options.cache;
    this.#revision = revision;
    this.#startRevision = revision;
    this.#generation = log.generation;
    const position = log.positionAfter(revision);
    if (position === undefined) void this.#followStore();
    else this.#position = position;
  }

  #wake(): void {
    if (this.#done || this.#paused || this.#pumping || this.#following) return;
    if (this.#options.encoder.isImmediate) this.#pump();
    else void this.#pumpConverted();
  }

  #pump(): void {
    const { encoder } = this.#options;
    this.#pumping = true;
    this.#slices.begin();
    let lines: Buffer[] = [];
    let bytes = 0;
    let isLater = false;
    for (;;) {
      const next = this.#next();
      if (!next || next === 'later') {
        isLater = next === 'later';
        break;
      }
      const line = Buffer.isBuffer(next) ? next : encoder.encode(next.type, next.stored);
      lines.push(line);
      bytes += line.byteLength;
      if (bytes < CHUNK_BYTES) continue;
      this.body.push(Buffer.concat(lines, bytes));
      lines = [];
      bytes = 0;
      if (this.#paused || this.#done) break;
    }
    if (bytes > 0) this.body.push(lines.length === 1 ? lines[0]! : Buffer.concat(lines, bytes));
    if (isLater) void this.#pumpLater();
    else this.#pumping = false;
  }

  /** Continues in the next slice: thousands of objects take long. */
  async #pumpLater(): Promise<void> {
    await this.#slices.next();
    this.#pumping = false;
    this.#wake();
  }

  async #pumpConverted(): Promise<void> {
    this.#pumping = true;
    this.#slices.begin();
    try {
      while (!this.#done && !this.#paused) {
        const next = this.#next();
        if (!next) break;
        if (next === 'later') {
          await this.#slices.next();
          continue;
        }
        const line = Buffer.isBuffer(next) ? next : await this.#options.encoder.encodeConverted(next.type, next.stored);
        this.body.push(line);
      }
    } catch (error) {
      this.#fail('InternalError', (error as Error).message);
    }
    this.#pumping = false;
  }

  /**
   * Returns the next event or bookmark; undefined if there is none, or if the store must be read first;
   * `later` if the slice is over.
   */
  #next(): Buffer | { readonly type: EventType; readonly stored: StoredObject } | 'later' | undefined {
    const { cache, selection, encoder } = this.#options;
    while (this.#initial) {
      if (this.#slices.isOver) return 'later';
      const { done, value } = this.#initial.next();
      if (done) {
        this.#initial = undefined;
        if (this.#marksEnd) return encoder.bookmark(this.#revision, true);
      } else if (selection.takesAll || selection.matches(value.object)) return { type: 'ADDED', stored: value };
    }
    if (this.#following || this.#done) return undefined;
    if (this.#generation !== cache.log.generation) {
      this.#fail('Expired', `too old resource version: ${this.#revision} (${cache.log.revision})`);
      return undefined;
    }
    for (;;) {
      const event = cache.log.at(this.#position);
      if (event === 'lost') {
        void this.#followStore();
        return undefined;
      }
      if (event === undefined) return undefined;
      if (this.#slices.isOver) return 'later';
      this.#position++;
      // A watch may start at a future revision.
      if (event.revision <= this.#startRevision) continue;
      this.#revision = event.revision;
      const seen = this.#seen(event);
      if (seen) return seen;
    }
  }

  /** Returns an event as seen through the selection: an object may enter or leave it by a modification. */
  #seen(event: CacheEvent): { type: EventType; stored: StoredObject } | undefined {
    const { current, previous } = event;
    const isNow = this.#isSelected(current);
    const wasBefore = this.#isSelected(previous);
    if (isNow) return { type: wasBefore ? 'MODIFIED' : 'ADDED', stored: current! };
    return wasBefore ? { type: 'DELETED', stored: event.gone } : undefined;
  }

  #isSelected(stored: StoredObject | undefined): boolean {
    const { selection } = this.#options;
    if (!stored) return false;
    const isInPlace = selection.isSingle ? stored.key === selection.prefix : stored.key.startsWith(selection.prefix);
    return isInPlace && (selection.takesAll || selection.matches(stored.object));
  }

  /** Reads the history of the store, for a position before the log, until the log is reached. */
  async #followStore(): Promise<void> {
    const { backend, cache, encoder } = this.#options;
    const watch = backend.watch(cache.prefix, { fromRevision: this.#revision + 1 });
    this.#following = watch;
    try {
      watch.requestProgress();
      for await (const batch of watch) {
        for (const event of batch.events) {
          const seen = this.#seen(cacheEvent(event));
          this.#revision = event.revision;
          if (!seen || this.#done) continue;
          await this.#untilResumed();
          this.body.push(await encoder.encodeConverted(seen.type, seen.stored));
        }
        if (this.#done) return;
        this.#revision = Math.max(this.#revision, batch.revision);
        const position = cache.log.positionAfter(this.#revision);
        if (position === undefined) continue;
        this.#position = position;
        this.#startRevision = this.#revision;
        this.#generation = cache.log.generation;
        break;
      }
    } catch (error) {
      if (isStorageError(error, 'compacted')) {
        this.#fail('Expired', `too old resource version: ${this.#revision} (${error.revision ?? 0})`);
      } else this.#fail('InternalError', `the watch broke off: ${(error as Error).message}`);
    } finally {
      watch.close();
      this.#following = undefined;
    }
    this.#wake();
  }

  async #untilResumed(): Promise<void> {
    while (this.#paused && !this.#done) {
      await new Promise<void>((resolve) => {
        this.#resumed = resolve;
      });
    }
  }

  #bookmarkLater(): void {
    const { clock, feed, encoder } = this.#options;
    const lastInMs = (this.#lastBookmarkAtMs ?? Number.POSITIVE_INFINITY) - clock.nowMs();
    const inMs = Math.min(BOOKMARK_EVERY_MS, lastInMs);
    if (inMs === lastInMs) this.#lastBookmarkAtMs = undefined;
    this.#cancelBookmark = clock.after(inMs, () => {
      if (this.#done) return;
      const isCurrent = !this.#following && !this.#initial && this.#position === this.#options.cache.log.end;
      // The log has all events up to the feed's revision, so its end is at that revision.
      if (isCurrent) this.#revision = Math.max(this.#revision, feed.revision);
      if (!this.#paused && !this.#initial) this.body.push(encoder.bookmark(this.#revision, false));
      this.#bookmarkLater();
    });
  }

  /** Sends an ERROR event, as kube-apiserver does, and ends: the client must list again. */
  #fail(reason: 'Expired' | 'InternalError', message: string): void {
    if (this.#done) return;
    this.body.push(this.#options.encoder.error(status(reason, message)));
    this.stop();
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#following?.close();
    this.#resumed?.();
    this.#cancelBookmark();
    for (const cancel of this.#cancels) cancel();
    for (const listener of this.#endListeners) listener();
  }
}

function cacheEvent(event: KeyEvent): CacheEvent {
  const current = event.type === 'put' ? new StoredObject(event.current) : undefined;
  return new CacheEvent(event.revision, current, event.previous && new StoredObject(event.previous));
}
