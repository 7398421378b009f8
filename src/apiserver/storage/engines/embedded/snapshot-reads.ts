import type { KeyEvent, KeyListOptions, KeyValue, ListResult } from '../../backend.js';
import { keyBytes, nextKey, prefixEnd } from '../../keys.js';
import { failures, StorageError } from '../../storage-error.js';
import { historyAfter, historyKey, historyRevision, historyStart, historyStem } from './history-key.js';
import { type CurrentRecord, decodeCurrentRecord, decodeLogRecord, type LogRecord, revisionKey } from './records.js';
import { freshen, readCounter, type Tables } from './tables.js';

/**
 * Reads of one snapshot. None of these functions awaits: all reads between `freshen` and their return see
 * one state of the store.
 */

/** The smallest key, as the start of a range without one. */
const FIRST_KEY = Buffer.of(0);

export function readLog(tables: Tables, revision: number): LogRecord | undefined {
  const bytes = tables.log.get(revisionKey(revision));
  return bytes === undefined ? undefined : decodeLogRecord(bytes);
}

/** Returns the event of a revision. */
export function eventOf(revision: number, record: LogRecord, previous: KeyValue | undefined): KeyEvent {
  if (record.type === 'delete') return { type: 'delete', revision, key: record.key, previous };
  return { type: 'put', revision, current: written(record, revision), previous };
}

/** Returns about the memory that an event holds. */
export function eventBytes(event: KeyEvent): number {
  const current = event.type === 'put' ? event.current.key.length + event.current.value.length : event.key.length;
  return current + (event.previous?.value.length ?? 0);
}

/** Returns the value that was written at a revision; undefined if it is not in the log. */
export function readWritten(tables: Tables, revision: number): KeyValue | undefined {
  const record = readLog(tables, revision);
  return record === undefined || record.type === 'delete' ? undefined : written(record, revision);
}

function written(record: LogRecord, revision: number): KeyValue {
  return {
    key: record.key,
    value: record.value,
    createRevision: record.createRevision,
    modRevision: revision,
  };
}

/** Returns the record of a key that has a value, as the caller's transaction sees it. */
export function readRecord(tables: Tables, key: Buffer): CurrentRecord | undefined {
  // Not copied: the bytes are decoded within this call.
  const bytes = tables.current.getBinaryFast(key);
  return bytes === undefined ? undefined : decodeCurrentRecord(bytes);
}

/** Returns the current value of a key, as the caller's transaction sees it. */
function readCurrent(tables: Tables, key: Buffer): KeyValue | undefined {
  const record = readRecord(tables, key);
  return record === undefined ? undefined : requireWritten(tables, record.modRevision);
}

export function requireWritten(tables: Tables, revision: number): KeyValue {
  const found = readWritten(tables, revision);
  if (found === undefined)
    throw new StorageError('unavailable', `the store is damaged: revision ${revision} is missing`);
  return found;
}

/** Returns the revision of the last write to a key; undefined if it has no value. */
export function newestRevisionOf(tables: Tables, key: Buffer): number | undefined {
  freshen(tables);
  return readRecord(tables, key)?.modRevision;
}

export function snapshotGet(tables: Tables, key: Buffer, revision: number | undefined): KeyValue | undefined {
  freshen(tables);
  if (revision === undefined || settle(tables, revision) === 'newest') return readCurrent(tables, key);
  const versions = tables.history.getKeys({
    start: historyKey(key, revision),
    end: historyStart(key),
    inclusiveEnd: true,
    reverse: true,
    limit: 1,
  });
  for (const entry of versions) {
    if (historyStem(entry).equals(historyStart(key))) return readWritten(tables, historyRevision(entry));
  }
  return undefined;
}

export function snapshotList(tables: Tables, prefix: Buffer, options: KeyListOptions): ListResult {
  freshen(tables);
  const startAfter = options.startAfter === undefined ? undefined : keyBytes(options.startAfter);
  const range = { prefix, startAfter, limit: options.limit ?? Number.POSITIVE_INFINITY };
  if (options.revision === undefined || settle(tables, options.revision) === 'newest') {
    return { ...listNewest(tables, range), revision: readCounter(tables, 'revision') };
  }
  return { ...listAt(tables, range, options.revision), revision: options.revision };
}

interface ListRange {
  readonly prefix: Buffer;
  readonly startAfter: Buffer | undefined;
  readonly limit: number;
}

function listNewest(tables: Tables, { prefix, startAfter, limit }: ListRange): Omit<ListResult, 'revision'> {
  const start = laterOf(prefix, startAfter && nextKey(startAfter));
  const range = { start, ...endOf(prefix) };
  const items: KeyValue[] = [];
  // One more than the limit, so that the remaining keys need to be counted only if there are any.
  const bound = Number.isFinite(limit) ? { limit: limit + 1 } : {};
  let more = false;
  for (const { value } of tables.current.getRange({ ...range, ...bound })) {
    if (items.length === limit) more = true;
    else items.push(requireWritten(tables, decodeCurrentRecord(value).modRevision));
  }
  const remainingCount = more ? tables.current.getKeysCount(range) - items.length : 0;
  return { items, remainingCount };
}

/** Walks every version under the prefix: slower than the newest list, and used by slow paging only. */
function listAt(tables: Tables, { prefix, startAfter, limit }: ListRange, revision: number) {
  const escaped = historyStart(prefix);
  const start = laterOf(escaped, startAfter && historyAfter(startAfter));
  const items: KeyValue[] = [];
  let remainingCount = 0;
  let stem: Buffer | undefined;
  let newest = 0;
  const settleKey = () => {
    if (newest === 0) return;
    if (items.length < limit) {
      const found = readWritten(tables, newest);
      if (found !== undefined) items.push(found);
    } else if (tables.log.getBinaryFast(revisionKey(newest))?.[0] === 1) remainingCount++;
  };
  for (const entry of tables.history.getKeys({ start, ...endOf(escaped) })) {
    const entryStem = historyStem(entry);
    if (stem === undefined || !entryStem.equals(stem)) {
      settleKey();
      stem = Buffer.from(entryStem);
      newest = 0;
    }
    const at = historyRevision(entry);
    if (at <= revision) newest = at;
  }
  settleKey();
  return { items, remainingCount };
}

/** Returns whether a revision is the newest or a past one. Throws for any other. */
function settle(tables: Tables, revision: number): 'newest' | 'past' {
  const newest = readCounter(tables, 'revision');
  if (revision > newest) throw failures.futureRevision(revision, newest);
  const oldest = readCounter(tables, 'compacted');
  if (revision < oldest) throw failures.compacted(revision, oldest);
  return revision === newest ? 'newest' : 'past';
}

function laterOf(prefix: Buffer, after: Buffer | undefined): Buffer {
  const start = prefix.length === 0 ? FIRST_KEY : prefix;
  return after !== undefined && after.compare(start) > 0 ? after : start;
}

function endOf(prefix: Buffer): { end?: Buffer } {
  const end = prefixEnd(prefix);
  return end === undefined ? {} : { end };
}
