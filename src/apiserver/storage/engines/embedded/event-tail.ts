import type { KeyEvent } from '../../backend.js';
import { failures } from '../../storage-error.js';
import { decodeLogRecord, readRevision, revisionKey } from './records.js';
import { eventBytes, eventOf, readWritten } from './snapshot-reads.js';
import { freshen, readCounter, type Tables } from './tables.js';

/** Bounds on one chunk, whose reading blocks this thread. */
const CHUNK_EVENTS_MAX = 512;
const CHUNK_BYTES_MAX = 4 * 2 ** 20;
/** Recent events are kept decoded, so that many watches at the end of the log read it once. */
const RECENT_EVENTS_MAX = 4096;
const RECENT_BYTES_MAX = 8 * 2 ** 20;

export interface Chunk {
  /** One event for each revision from the requested one to `throughRevision`. */
  readonly events: readonly KeyEvent[];
  /** The revision of the last event; without events, the newest revision. */
  readonly throughRevision: number;
}

/** The end of the log, shared by all watches of this process. */
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

  /** Reads the newest commit of any process, wakes waiting watches, and returns its revision. */
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
   * Keeps events that this process has committed, so that watches need not read them from the log, and
   * refreshes. Events of other processes, and the beginning of a large transaction, are read from the log.
   */
  committed(events: readonly KeyEvent[]): void {
    this.#remember(events);
    this.refresh();
  }

  /** Calls back after each new revision until the returned function is called. */
  onGrowth(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Returns a chunk of events from this revision on. Throws `compacted`. */
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
    // The compacted revision can be read but not watched: a delete at that revision is removed.
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
    // Copied: bytes of a range are valid only until the next read.
    const record = decodeLogRecord(copyOf(bytes));
    const previous = record.previousRevision > 0 ? readWritten(this.#tables, record.previousRevision) : undefined;
    return eventOf(revision, record, previous);
  }

  /** Keeps events that follow the recent ones. Events of a reader far behind do not replace them. */
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

  /** Removes a quarter at a time, because each removal copies the rest. */
  #makeRoom(): void {
    let bytes = this.#recentBytes;
    let count = Math.max(0, this.#recent.length - (RECENT_EVENTS_MAX * 3) / 4);
    for (let index = 0; index < count; index++) bytes -= eventBytes(this.#recent[index]!);
    while (bytes > (RECENT_BYTES_MAX * 3) / 4) bytes -= eventBytes(this.#recent[count++]!);
    this.#drop(count);
  }

  /** Compacted events must not be readable from memory either. */
  #forgetThrough(revision: number): void {
    const first = this.#recent[0]?.revision;
    if (first !== undefined && revision >= first) this.#drop(Math.min(this.#recent.length, revision - first + 1));
  }

  #drop(count: number): void {
    for (const event of this.#recent.splice(0, count)) this.#recentBytes -= eventBytes(event);
  }
}

/** Not from Node's buffer pool: events are kept for long and would keep whole slabs of the pool. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

function chunk(events: readonly KeyEvent[]): Chunk {
  return { events, throughRevision: events.at(-1)!.revision };
}
