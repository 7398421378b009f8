import type { Clock } from '../../base/clock.js';
import { WorkSlices } from '../../base/work-slices.js';
import { BodyStream } from '../../http/body-stream.js';
import type { JsonObject } from '../../kube/json.js';
import { status } from '../../kube/status.js';
import type { Backend, KeyEvent, Watch } from '../storage/backend.js';
import { isStorageError } from '../storage/storage-error.js';
import { CacheEvent } from './cache-event.js';
import type { ResourceCache } from './resource-cache.js';
import type { StoreFeed } from './store-feed.js';
import { StoredObject } from './stored-object.js';
import type { EventType, WatchEncoder } from './watch-encoder.js';

/** With the state as it is now (and a mark after it), or with what happened after a revision. */
export type WatchStart =
  | { readonly from: 'state'; readonly marksEnd: boolean }
  | { readonly from: 'revision'; readonly revision: number };

export interface WatchSessionOptions {
  readonly cache: ResourceCache;
  readonly backend: Backend;
  readonly feed: StoreFeed;
  readonly clock: Clock;
  readonly selection: {
    readonly prefix: string;
    readonly isSingle: boolean;
    readonly takesAll: boolean;
    matches(object: JsonObject): boolean;
  };
  readonly encoder: WatchEncoder;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

const BOOKMARK_EVERY_MS = 60_000;
/** And once more so long before the end, so that the client goes on from here. */
const LAST_BOOKMARK_MS = 2_000;
/** Lines are gathered up to about this size before they are handed on. */
const CHUNK_BYTES = 64 * 1024;

/**
 * One client's watch. It holds a position in the log that all watches of the resource share, and no queue of its own: a
 * client that reads slowly falls behind, and one that falls out of the log reads on from the store until it is back in.
 */
export class WatchSession {
  readonly body: BodyStream;
  readonly #options: WatchSessionOptions;
  readonly #endListeners: (() => void)[] = [];
  readonly #cancels: (() => void)[] = [];
  /** Every event up to here has been handed on. */
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

  /** Must be called in the same turn in which the state was found to be new enough. */
  begin(): void {
    const { cache, feed, start, clock, timeoutMs, bookmarks } = this.#options;
    if (start.from === 'state') this.#beginWithState(start.marksEnd, cache, feed.revision);
    else this.#beginAfter(start.revision);
    this.#cancels.push(cache.log.onAppend(() => this.#wake()));
    this.#cancels.push(clock.after(timeoutMs, () => this.stop()));
    if (timeoutMs > LAST_BOOKMARK_MS) this.#lastBookmarkAtMs = clock.nowMs() + timeoutMs - LAST_BOOKMARK_MS;
    if (bookmarks) this.#bookmarkLater();
    this.#wake();
  }

  onEnd(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** Ends the stream in good order; the client may go on elsewhere from what it has. */
  stop(): void {
    if (this.#done) return;
    this.#finish();
    this.body.end();
  }

  #beginWithState(marksEnd: boolean, cache: ResourceCache, revision: number): void {
    const { selection } = this.#options;
    const one = selection.isSingle ? cache.get(selection.prefix) : undefined;
    // A copy of the references: what changes while a slow client reads the state follows as events.
    const state = selection.isSingle ? (one ? [one] : []) : [...cache.range(selection.prefix)];
    this.#initial = state[Symbol.iterator]();
    this.#marksEnd = marksEnd;
    this.#beginAfter(revision);
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

  /** Thousands of objects take a while to be told of: others get their turn in between. */
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
   * The next thing to tell; undefined when there is nothing, or when the store has to be asked first; `later` when this slice
   * of work is over.
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
      // A watch may start in the future.
      if (event.revision <= this.#startRevision) continue;
      this.#revision = event.revision;
      const told = this.#told(event);
      if (told) return told;
    }
  }

  /** What an event means for what this client has selected. */
  #told(event: CacheEvent): { type: EventType; stored: StoredObject } | undefined {
    const { current, previous } = event;
    const isNow = this.#isMeant(current);
    const wasBefore = this.#isMeant(previous);
    if (isNow) return { type: wasBefore ? 'MODIFIED' : 'ADDED', stored: current! };
    return wasBefore ? { type: 'DELETED', stored: event.gone } : undefined;
  }

  #isMeant(stored: StoredObject | undefined): boolean {
    const { selection } = this.#options;
    if (!stored) return false;
    const isInPlace = selection.isSingle ? stored.key === selection.prefix : stored.key.startsWith(selection.prefix);
    return isInPlace && (selection.takesAll || selection.matches(stored.object));
  }

  /** Older than what the log holds: reads the store's history until the log takes over. */
  async #followStore(): Promise<void> {
    const { backend, cache, encoder } = this.#options;
    const watch = backend.watch(cache.prefix, { fromRevision: this.#revision + 1 });
    this.#following = watch;
    try {
      watch.requestProgress();
      for await (const batch of watch) {
        for (const event of batch.events) {
          const told = this.#told(cacheEvent(event));
          this.#revision = event.revision;
          if (!told || this.#done) continue;
          await this.#untilResumed();
          this.body.push(await encoder.encodeConverted(told.type, told.stored));
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
      // All events up to the feed's revision are in the log: whoever has read all of it is as far as the feed.
      if (isCurrent) this.#revision = Math.max(this.#revision, feed.revision);
      if (!this.#paused && !this.#initial) this.body.push(encoder.bookmark(this.#revision, false));
      this.#bookmarkLater();
    });
  }

  /** The client is told in its stream, as by kube-apiserver, and has to list again. */
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
  const previous = event.previous && new StoredObject(event.previous);
  if (event.type === 'put') return new CacheEvent(event.revision, new StoredObject(event.current), previous);
  return new CacheEvent(event.revision, undefined, previous);
}
