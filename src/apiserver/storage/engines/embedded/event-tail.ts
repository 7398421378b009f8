import type { KeyEvent } from '../../backend.js';
import { failures } from '../../storage-error.js';
import { decodeLogRecord, readRevision, revisionKey } from './records.js';
import { eventBytes, eventOf, readWritten } from './snapshot-reads.js';
import { freshen, readCounter, type Tables } from './tables.js';

/** What one reading hands over at most: it holds this thread that long. */
const CHUNK_EVENTS_MAX = 512;
const CHUNK_BYTES_MAX = 4 * 2 ** 20;
/** Recent events kept decoded, so that many watchers at the end of the log cost one reading of it. */
const RECENT_EVENTS_MAX = 4096;
const RECENT_BYTES_MAX = 8 * 2 ** 20;

export interface Chunk {
  /** One event for every revision from the one asked for up to `throughRevision`. */
  readonly events: readonly KeyEvent[];
  /** The last of them; where there are none, the newest revision, at which the reader now stands. */
  readonly throughRevision: number;
}

/** The log's moving end, shared by all watches of this process. */
export class EventTail {
  readonly #tables: Tables;
  readonly #waiting = new Set<() => void>();
  #newestRevision = 0;
  #recent: KeyEvent[] = [];
  #recentBytes = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.refresh();
  }

  /** Looks at the newest commit of any process, wakes who waits for it, and returns its revision. */
  refresh(): number {
    freshen(this.#tables);
    const revision = readCounter(this.#tables, 'revision');
    this.#forgetThrough(readCounter(this.#tables, 'compacted'));
    if (revision > this.#newestRevision) {
      this.#newestRevision = revision;
      for (const wake of [...this.#waiting]) wake();
    }
    return revision;
  }

  /**
   * Takes over what this process itself has just committed, and looks further: who reads on from there need not read the
   * log. What another process committed in between is not among the events, nor is all of a large transaction: that is
   * read from the log.
   */
  committed(events: readonly KeyEvent[]): void {
    this.#remember(events);
    this.refresh();
  }

  /** Calls back whenever the newest revision has grown, until the returned function is called. */
  onGrowth(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** The events from this revision on: as many as make a chunk. Fails with `compacted` where they are gone. */
  read(fromRevision: number): Chunk {
    if (fromRevision > this.#newestRevision) return { events: [], throughRevision: this.#newestRevision };
    const firstRecent = this.#recent[0]?.revision ?? 0;
    if (firstRecent > 0 && fromRevision >= firstRecent && fromRevision < firstRecent + this.#recent.length) {
      const start = fromRevision - firstRecent;
      return chunk(this.#recent.slice(start, start + CHUNK_EVENTS_MAX));
    }
    const events = this.#readLog(fromRevision);
    this.#remember(events);
    return chunk(events);
  }

  #readLog(fromRevision: number): KeyEvent[] {
    freshen(this.#tables);
    const oldest = readCounter(this.#tables, 'compacted');
    // The compacted revision can be read but not watched: if it was a delete, it is gone.
    if (fromRevision <= oldest) throw failures.compacted(fromRevision, oldest);
    const events: KeyEvent[] = [];
    let bytes = 0;
    for (const { key, value } of this.#tables.log.getRange({
      start: revisionKey(fromRevision),
      limit: CHUNK_EVENTS_MAX,
    })) {
      const event = this.#toEvent(readRevision(key), value);
      events.push(event);
      bytes += eventBytes(event);
      if (bytes >= CHUNK_BYTES_MAX) break;
    }
    return events;
  }

  #toEvent(revision: number, bytes: Buffer): KeyEvent {
    // Copied: what a range hands out is valid only until the next reading.
    const record = decodeLogRecord(copyOf(bytes));
    const previous = record.previousRevision > 0 ? readWritten(this.#tables, record.previousRevision) : undefined;
    return eventOf(revision, record, previous);
  }

  /** Keeps what continues the recent events; a reader far behind must not push them out. */
  #remember(events: readonly KeyEvent[]): void {
    const lastRecent = this.#recent.at(-1)?.revision ?? 0;
    if (events.length === 0 || events.at(-1)!.revision <= lastRecent) return;
    if (events[0]!.revision !== lastRecent + 1) {
      this.#recent = [];
      this.#recentBytes = 0;
    }
    for (const event of events) {
      this.#recent.push(event);
      this.#recentBytes += eventBytes(event);
    }
    if (this.#recent.length > RECENT_EVENTS_MAX || this.#recentBytes > RECENT_BYTES_MAX) this.#makeRoom();
  }

  /** A quarter at a time: each dropping moves all that stays. */
  #makeRoom(): void {
    let bytes = this.#recentBytes;
    let count = Math.max(0, this.#recent.length - (RECENT_EVENTS_MAX * 3) / 4);
    for (let index = 0; index < count; index++) bytes -= eventBytes(this.#recent[index]!);
    while (bytes > (RECENT_BYTES_MAX * 3) / 4) bytes -= eventBytes(this.#recent[count++]!);
    this.#drop(count);
  }

  /** What is compacted is compacted for everyone, whether it happens to be in memory or not. */
  #forgetThrough(revision: number): void {
    const first = this.#recent[0]?.revision;
    if (first !== undefined && revision >= first) this.#drop(Math.min(this.#recent.length, revision - first + 1));
  }

  #drop(count: number): void {
    for (const event of this.#recent.splice(0, count)) this.#recentBytes -= eventBytes(event);
  }
}

/** Not from Node's pool: events are kept for long, and one of them would keep all that was taken from the pool beside it. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

function chunk(events: readonly KeyEvent[]): Chunk {
  return { events, throughRevision: events.at(-1)!.revision };
}
