import { type Clock, systemClock } from '../../../../base/clock.js';
import type {
  Backend,
  DeleteResult,
  EngineOptions,
  Key,
  KeyListOptions,
  KeyValue,
  KeyWatchOptions,
  KeyWriteOptions,
  ListResult,
  ReadOptions,
} from '../../backend.js';
import { compactInBackground, DEFAULT_COMPACTION } from '../../background-compaction.js';
import type { EngineWatch } from '../../engine-watch.js';
import { checkRevision, keyBytes, storableEntry, storableKey } from '../../keys.js';
import { failures } from '../../storage-error.js';
import { openDataDir } from './data-dir.js';
import { EventTail } from './event-tail.js';
import { GroupCommit, type GroupCommitLimits } from './group-commit.js';
import { Housekeeping } from './housekeeping.js';
import { LogWatch } from './log-watch.js';
import { Neighbours } from './neighbours.js';
import { newestRevisionOf, snapshotGet, snapshotList } from './snapshot-reads.js';
import { openTables, type SharedTables, type Tables } from './tables.js';

export interface EmbeddedOptions extends EngineOptions {
  /** Created if it does not exist. Must be on a local disk: network file systems do not keep the locks. */
  readonly dataDir: string;
  readonly limits?: GroupCommitLimits;
}

/** Above the 3 MiB of the largest request to an API server, which adds to the object before it is stored. */
const VALUE_BYTES_MAX = 4 * 2 ** 20;
const DEFAULT_LIMITS: GroupCommitLimits = { pendingWritesMax: 20_000, pendingBytesMax: 128 * 2 ** 20 };
/** Revisions of the log that one transaction clears, so that writes of callers can run in between. */
const SWEEP_REVISIONS_MAX = 256;

/** Opens the store of a directory. Other processes on this machine may open it at the same time. */
export async function openEmbeddedBackend(options: EmbeddedOptions): Promise<EmbeddedBackend> {
  const dir = openDataDir(options.dataDir);
  const backend = new EmbeddedBackend(openTables(dir.storePath), dir.neighboursPath, options);
  await backend.start();
  return backend;
}

export class EmbeddedBackend implements Backend {
  readonly #tables: Tables;
  readonly #closeTables: () => Promise<void>;
  readonly #clock: Clock;
  readonly #valueBytesMax: number;
  readonly #tail: EventTail;
  readonly #neighbours: Neighbours;
  readonly #commits: GroupCommit;
  readonly #housekeeping: Housekeeping;
  readonly #watches = new Set<EngineWatch>();
  readonly #stopCompaction: () => void;
  #sweeping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(shared: SharedTables, neighboursPath: string, options: EmbeddedOptions) {
    const onError = options.onError ?? (() => {});
    const { tables } = shared;
    this.#tables = tables;
    this.#closeTables = shared.close;
    this.#clock = options.clock ?? systemClock;
    this.#valueBytesMax = options.valueBytesMax ?? VALUE_BYTES_MAX;
    this.#tail = new EventTail(tables);
    this.#neighbours = new Neighbours(neighboursPath, () => this.#tail.refresh());
    this.#commits = new GroupCommit(
      tables,
      () => this.#clock.nowMs(),
      options.limits ?? DEFAULT_LIMITS,
      (events) => {
        this.#neighbours.nudge();
        this.#tail.committed(events);
      },
    );
    this.#housekeeping = new Housekeeping({
      tables,
      clock: this.#clock,
      commits: this.#commits,
      tail: this.#tail,
      neighbours: this.#neighbours,
      onError,
    });
    this.#stopCompaction = compactInBackground(this, options.compaction ?? DEFAULT_COMPACTION, this.#clock, onError);
  }

  async start(): Promise<void> {
    const nudged = await this.#neighbours.join();
    this.#housekeeping.start(nudged);
  }

  async get(key: Key, options: ReadOptions = {}): Promise<KeyValue | undefined> {
    this.#checkOpen();
    checkRevision(options.revision);
    return snapshotGet(this.#tables, storableKey(key), options.revision);
  }

  async isNewest(key: Key, modRevision: number): Promise<boolean> {
    this.#checkOpen();
    return newestRevisionOf(this.#tables, storableKey(key)) === modRevision;
  }

  async list(prefix: Key, options: KeyListOptions = {}): Promise<ListResult> {
    this.#checkOpen();
    checkRevision(options.revision);
    checkRevision(options.limit);
    return snapshotList(this.#tables, keyBytes(prefix), options);
  }

  async create(key: Key, value: Uint8Array, options: KeyWriteOptions = {}): Promise<KeyValue> {
    const entry = this.#entryOf(key, value, options);
    return this.#commits.write(entry.bytes, (transaction) => transaction.create(entry.key, entry.value, entry.ttlMs));
  }

  async update(
    key: Key,
    value: Uint8Array,
    expectedModRevision: number,
    options: KeyWriteOptions = {},
  ): Promise<KeyValue> {
    const entry = this.#entryOf(key, value, options);
    checkRevision(expectedModRevision);
    return this.#commits.write(entry.bytes, (transaction) =>
      transaction.update(entry.key, entry.value, expectedModRevision, entry.ttlMs),
    );
  }

  async delete(key: Key, expectedModRevision?: number): Promise<DeleteResult> {
    const bytes = storableKey(key);
    checkRevision(expectedModRevision);
    return this.#commits.write(bytes.length, (transaction) => transaction.delete(bytes, expectedModRevision));
  }

  watch(prefix: Key, options: KeyWatchOptions): LogWatch {
    checkRevision(options.fromRevision);
    const place = { prefix: keyBytes(prefix), fromRevision: options.fromRevision };
    const watch = new LogWatch(this.#tail, place, this.#clock, this.#watches);
    if (this.#closing !== undefined) watch.closeWithStore();
    return watch;
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.#tail.refresh();
  }

  async compact(revision: number): Promise<void> {
    checkRevision(revision);
    await this.#commits.write(0, (transaction) => transaction.compact(revision));
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopCompaction();
    this.#housekeeping.stop();
    for (const watch of [...this.#watches]) watch.closeWithStore();
    await this.#commits.close();
    await this.#sweeping;
    await this.#neighbours.close();
    await this.#closeTables();
  }

  /** Clears compacted history. The next compaction resumes a sweep that a crash or `close` interrupted. */
  async #sweep(): Promise<void> {
    let more = true;
    while (more && this.#closing === undefined) {
      more = await this.#commits.write(0, (transaction) => transaction.sweep(SWEEP_REVISIONS_MAX)).catch(() => false);
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw failures.closed();
  }

  #entryOf(key: Key, value: Uint8Array, options: KeyWriteOptions) {
    const entry = storableEntry(key, value, { ...options, valueBytesMax: this.#valueBytesMax });
    return { ...entry, bytes: entry.key.length + value.length, ttlMs: (options.ttlSeconds ?? 0) * 1000 };
  }
}
