import { chmodSync } from 'node:fs';
import { type Database, open, type RootDatabase } from 'lmdb';
import { StorageError } from '../../storage-error.js';
import { readRevision, revisionKey } from './records.js';

export type Table = Database<Buffer, Buffer>;

/** The tables of a store, in one file, so that one transaction covers them. */
export interface Tables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** revision → LogRecord */
  readonly log: Table;
  /** key → CurrentRecord; only keys that have a value */
  readonly current: Table;
  /** (key, revision) → empty; every revision of every key in the log */
  readonly history: Table;
  /** (expiry, revision) → key */
  readonly expiry: Table;
  /** the counters below */
  readonly counters: Table;
}

/** The revision of an empty store. */
const FIRST_REVISION = 1;

const COUNTER_KEYS = {
  /** The newest revision. */
  revision: Buffer.from('revision'),
  /** The oldest revision that can be read. */
  compacted: Buffer.from('compacted'),
  /** The revision up to which the log has been cleared of compacted entries. */
  swept: Buffer.from('swept'),
};
export type StoreCounter = keyof typeof COUNTER_KEYS;

/** Address space, not memory or disk: large enough that the map never has to be moved. */
const MAP_BYTES = 64 * 2 ** 30;
/** Each process takes one or two; the slots of killed processes are cleared later. */
const READERS_MAX = 1024;

/**
 * Opens the tables of a store, or shares those that this process has open: opening blocks this thread for
 * the store's write lock, which would be a deadlock if this process held it.
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
  /** To be called once by each opener; the last call closes the file. */
  close(): Promise<void>;
}

const openInThisProcess = new Map<string, { readonly tables: Tables; users: number }>();

function openFile(storePath: string): Tables {
  let root: RootDatabase<Buffer, Buffer>;
  try {
    root = open<Buffer, Buffer>({
      path: storePath,
      noSubdir: true,
      // Otherwise a process killed between commit and sync breaks the environment of the others (ADR 0003).
      overlappingSync: false,
      mapSize: MAP_BYTES,
      maxReaders: READERS_MAX,
      encoding: 'binary',
      keyEncoding: 'binary',
    });
  } catch (cause) {
    throw new StorageError('unavailable', `${storePath} does not open: ${(cause as Error).message}`, { cause });
  }
  // The file contains Secrets in plain text, and lmdb makes it readable for all.
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

/** Moves the reads of this thread to the newest commit of any process. All reads until the next await see it. */
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
