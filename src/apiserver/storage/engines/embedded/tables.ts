import { chmodSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import { StorageError } from '../../storage-error.js';
import { readRevision, revisionKey } from './records.js';

export type Table = Database<Buffer, Buffer>;

/** The store's tables, all in one file, so that one transaction covers them. */
export interface Tables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** revision → LogRecord */
  readonly log: Table;
  /** key → CurrentRecord; only keys that have a value now */
  readonly current: Table;
  /** (key, revision) → empty; every revision of every key that is still in the log */
  readonly history: Table;
  /** (due time, revision) → key */
  readonly expiry: Table;
  /** the counters below */
  readonly counters: Table;
}

/** A store's revision before anything was written to it. */
const FIRST_REVISION = 1;

const COUNTER_KEYS = {
  /** The newest revision. */
  revision: Buffer.from('revision'),
  /** The oldest revision that can be read. */
  compacted: Buffer.from('compacted'),
  /** How far the log has been cleared of what compaction made superfluous. */
  swept: Buffer.from('swept'),
};
export type StoreCounter = keyof typeof COUNTER_KEYS;

/** Address space, not memory or disk: large enough that no process ever has to move its map under its readers. */
const MAP_BYTES = 64 * 2 ** 30;
/** Each process takes one or two; the rest is room for those that were killed, until they are cleared away. */
const READERS_MAX = 1024;

/**
 * Opens a store's tables, or shares those that this process has open already: opening waits for the store's write lock
 * on this very thread, which would wait for itself if it were in the middle of a write.
 */
export function openTables(storePath: string): SharedTables {
  const open = openInThisProcess.get(storePath) ?? { tables: openFile(storePath), users: 0 };
  openInThisProcess.set(storePath, open);
  open.users++;
  return {
    tables: open.tables,
    close: async () => {
      open.users--;
      if (open.users > 0) return;
      openInThisProcess.delete(storePath);
      await open.tables.root.close();
    },
  };
}

export interface SharedTables {
  readonly tables: Tables;
  /** To be called once by everyone who opened them; the last one closes the file. */
  close(): Promise<void>;
}

const openInThisProcess = new Map<string, { readonly tables: Tables; users: number }>();

function openFile(storePath: string): Tables {
  let root: RootDatabase<Buffer, Buffer>;
  try {
    root = open<Buffer, Buffer>({
      path: storePath,
      noSubdir: true,
      // Without this a process killed between commit and sync leaves the others with a broken environment (ADR 3).
      overlappingSync: false,
      mapSize: MAP_BYTES,
      maxReaders: READERS_MAX,
      encoding: 'binary',
      keyEncoding: 'binary',
    });
  } catch (cause) {
    throw new StorageError('unavailable', `${storePath} does not open: ${(cause as Error).message}`, { cause });
  }
  // Secrets lie in there in the clear, and lmdb's own choice is readable for all.
  chmodSync(storePath, 0o600);
  const table = (name: string) => root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
  return {
    root,
    log: table('log'),
    current: table('current'),
    history: table('history'),
    expiry: table('expiry'),
    counters: table('counters'),
  };
}

/**
 * Moves this thread's reads to the newest commit of any process; until then, reads may see an older one. All reads up
 * to the next await then see one and the same state.
 */
export function freshen(tables: Tables): void {
  tables.root.resetReadTxn();
}

export function readCounter(tables: Tables, counter: StoreCounter): number {
  const bytes = tables.counters.getBinaryFast(COUNTER_KEYS[counter]);
  if (bytes !== undefined) return readRevision(bytes);
  return counter === 'revision' ? FIRST_REVISION : 0;
}

/** Only inside a write transaction. */
export function writeCounter(tables: Tables, counter: StoreCounter, value: number): void {
  tables.counters.putSync(COUNTER_KEYS[counter], revisionKey(value));
}
