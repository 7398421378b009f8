import type { DeleteResult, KeyEvent, KeyValue } from '../../backend.js';
import { failures } from '../../storage-error.js';
import { historyKey } from './history-key.js';
import {
  decodeExpiryKey,
  decodeLogRecord,
  encodeCurrentRecord,
  encodeLogRecord,
  expiryKey,
  revisionKey,
} from './records.js';
import { eventBytes, eventOf, readLog, readRecord, requireWritten } from './snapshot-reads.js';
import { readCounter, type Tables, writeCounter } from './tables.js';

const NOTHING = Buffer.alloc(0);
/** Bound on the events that a transaction keeps, as many as watches keep: small writes can replace large values. */
const EVENT_BYTES_MAX = 8 * 2 ** 20;

/**
 * The changes of one transaction with the writes of many callers. Used only within the store's write
 * lock, so that revisions are assigned in the order in which they become visible. A method throws
 * StorageError before any change, or makes its whole change.
 */
export class WriteTransaction {
  readonly #tables: Tables;
  readonly #nowMs: number;
  readonly #startRevision: number;
  #revision: number;
  #events: KeyEvent[] = [];
  #eventBytes = 0;

  constructor(tables: Tables, nowMs: number) {
    this.#tables = tables;
    this.#nowMs = nowMs;
    this.#startRevision = readCounter(tables, 'revision');
    this.#revision = this.#startRevision;
  }

  /** The events in revision order, of a large transaction the last ones. Valid once it is committed. */
  get events(): readonly KeyEvent[] {
    return this.#events;
  }

  /** Must be called last. */
  finish(): void {
    if (this.#revision !== this.#startRevision) writeCounter(this.#tables, 'revision', this.#revision);
  }

  create(key: Buffer, value: Buffer, ttlMs: number): KeyValue {
    const record = readRecord(this.#tables, key);
    if (record !== undefined) throw failures.exists(key, requireWritten(this.#tables, record.modRevision));
    return this.#put(key, value, undefined, ttlMs);
  }

  update(key: Buffer, value: Buffer, expectedModRevision: number, ttlMs: number): KeyValue {
    return this.#put(key, value, this.#expect(key, expectedModRevision), ttlMs);
  }

  delete(key: Buffer, expectedModRevision: number | undefined): DeleteResult {
    const present = this.#expect(key, expectedModRevision);
    return { deleted: present.kv, revision: this.#remove(present) };
  }

  /** Deletes up to `keysMax` expired keys. Returns whether there may be more. */
  expire(keysMax: number): boolean {
    const due = [...this.#tables.expiry.getRange({ end: expiryKey(this.#nowMs + 1, 0), limit: keysMax })];
    for (const { key: place, value: key } of due) {
      const present = this.#present(Buffer.from(key));
      // Updates and deletes clear their entry; the check protects against a wrong delete.
      if (present?.kv.modRevision === decodeExpiryKey(place).modRevision) this.#remove(present);
      else this.#tables.expiry.removeSync(Buffer.from(place));
    }
    return due.length === keysMax;
  }

  compact(revision: number): void {
    if (revision > this.#revision) throw failures.futureRevision(revision, this.#revision);
    if (revision > readCounter(this.#tables, 'compacted')) writeCounter(this.#tables, 'compacted', revision);
  }

  /**
   * Clears up to `revisionsMax` compacted revisions and returns whether there are more. Every revision up
   * to the compacted one obsoletes the entry that it replaced, and a delete also itself. The last write to
   * a key stays, so the work is in proportion to the writes, not to the keys.
   */
  sweep(revisionsMax: number): boolean {
    const swept = readCounter(this.#tables, 'swept');
    const goal = readCounter(this.#tables, 'compacted');
    const end = Math.min(goal, swept + revisionsMax);
    if (end === swept) return false;
    for (let revision = swept + 1; revision <= end; revision++) {
      const record = readLog(this.#tables, revision);
      if (record === undefined) continue;
      if (record.previousRevision > 0) this.#forget(record.key, record.previousRevision);
      if (record.type === 'delete') this.#forget(record.key, revision);
    }
    writeCounter(this.#tables, 'swept', end);
    return end < goal;
  }

  #present(key: Buffer): Present | undefined {
    const record = readRecord(this.#tables, key);
    if (record === undefined) return undefined;
    return { kv: requireWritten(this.#tables, record.modRevision), expiresAtMs: record.expiresAtMs };
  }

  #expect(key: Buffer, expectedModRevision: number | undefined): Present {
    const present = this.#present(key);
    if (present === undefined) throw failures.notFound(key);
    if (expectedModRevision !== undefined && present.kv.modRevision !== expectedModRevision) {
      throw failures.conflict(key, expectedModRevision, present.kv);
    }
    return present;
  }

  #put(key: Buffer, value: Buffer, present: Present | undefined, ttlMs: number): KeyValue {
    const revision = ++this.#revision;
    const previous = present?.kv;
    const createRevision = previous?.createRevision ?? revision;
    const previousRevision = previous?.modRevision ?? 0;
    const expiresAtMs = ttlMs > 0 ? Math.ceil(this.#nowMs + ttlMs) : 0;
    if (present) this.#clearExpiry(present);
    const bytes = encodeLogRecord({ type: 'put', key, value, createRevision, previousRevision });
    this.#log(revision, bytes, key);
    this.#tables.current.putSync(key, encodeCurrentRecord({ modRevision: revision, createRevision, expiresAtMs }));
    if (expiresAtMs > 0) this.#tables.expiry.putSync(expiryKey(expiresAtMs, revision), key);
    // Decoded from the copy: the caller may change its buffers.
    this.#tell(eventOf(revision, decodeLogRecord(bytes), previous));
    return { key, value, createRevision, modRevision: revision };
  }

  #remove(present: Present): number {
    const revision = ++this.#revision;
    const { key, createRevision, modRevision: previousRevision } = present.kv;
    this.#clearExpiry(present);
    const bytes = encodeLogRecord({ type: 'delete', key, value: NOTHING, createRevision, previousRevision });
    this.#log(revision, bytes, key);
    this.#tables.current.removeSync(key);
    this.#tell(eventOf(revision, decodeLogRecord(bytes), present.kv));
    return revision;
  }

  #tell(event: KeyEvent): void {
    const bytes = eventBytes(event);
    this.#eventBytes += bytes;
    if (this.#eventBytes > EVENT_BYTES_MAX) {
      this.#events = [];
      this.#eventBytes = bytes;
    }
    this.#events.push(event);
  }

  #log(revision: number, record: Buffer, key: Buffer): void {
    this.#tables.log.putSync(revisionKey(revision), record, { append: true });
    this.#tables.history.putSync(historyKey(key, revision), NOTHING);
  }

  #forget(key: Buffer, revision: number): void {
    this.#tables.log.removeSync(revisionKey(revision));
    this.#tables.history.removeSync(historyKey(key, revision));
  }

  #clearExpiry({ expiresAtMs, kv }: Present): void {
    if (expiresAtMs > 0) this.#tables.expiry.removeSync(expiryKey(expiresAtMs, kv.modRevision));
  }
}

/** The value of a key before a change. */
interface Present {
  readonly kv: KeyValue;
  /** 0: never. */
  readonly expiresAtMs: number;
}
