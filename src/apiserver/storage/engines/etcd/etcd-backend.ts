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
import { checkRevision, keyBytes, nextKey, storableEntry, storableKey } from '../../keys.js';
import { failures, isStorageError } from '../../storage-error.js';
import { EtcdClient, type EtcdClientOptions } from './etcd-client.js';
import {
  decodeRange,
  decodeTxn,
  encodeCompact,
  encodeRange,
  encodeTxn,
  METHODS,
  type RangeRequest,
  type RangeResponse,
  rangeOfPrefix,
  type TxnOperation,
  type TxnRequest,
  type TxnResponse,
} from './etcd-messages.js';
import { EtcdWatch } from './etcd-watch.js';
import { type HeldLease, LeasePool } from './lease-pool.js';

export interface EtcdOptions extends EngineOptions, Pick<EtcdClientOptions, 'endpoints' | 'tls' | 'credentials'> {
  readonly requestTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Bound on the bytes of one response. */
  readonly messageBytesMax?: number;
  /** A key that this user may read, whether or not it exists; a read of it returns the newest revision. */
  readonly probeKey?: string;
}

const REQUEST_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MESSAGE_BYTES_MAX = 64 * 2 ** 20;
/** etcd has a limit as well: 1.5 MiB for a request by default. */
const VALUE_BYTES_MAX = 8 * 2 ** 20;
/** Keys of one range request; a longer list is several responses of one revision. */
const PAGE_KEYS_MAX = 1000;
/** Divisor of the page size after a response that was too large. */
const PAGE_SHRINK = 10;
const PROBE_KEY = '/registry/health';
const NO_LEASE: HeldLease = { id: 0n, release: () => {} };

/** Connects to an etcd cluster. Rejects with `unavailable` or `denied` if no endpoint serves. */
export async function openEtcdBackend(options: EtcdOptions): Promise<EtcdBackend> {
  const backend = new EtcdBackend(options);
  try {
    await backend.currentRevision();
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

export class EtcdBackend implements Backend {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #leases: LeasePool;
  readonly #valueBytesMax: number;
  readonly #probeKey: Buffer;
  readonly #watches = new Set<EngineWatch>();
  readonly #stopCompaction: () => void;
  #closed = false;

  constructor(options: EtcdOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#client = new EtcdClient({
      ...options,
      clock: this.#clock,
      requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      limits: {
        connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        messageBytesMax: options.messageBytesMax ?? MESSAGE_BYTES_MAX,
      },
    });
    this.#leases = new LeasePool(this.#client, this.#clock);
    this.#valueBytesMax = options.valueBytesMax ?? VALUE_BYTES_MAX;
    this.#probeKey = keyBytes(options.probeKey ?? PROBE_KEY);
    const onError = options.onError ?? (() => {});
    this.#stopCompaction = compactInBackground(this, options.compaction ?? DEFAULT_COMPACTION, this.#clock, onError);
  }

  async get(key: Key, options: ReadOptions = {}): Promise<KeyValue | undefined> {
    checkRevision(options.revision);
    return (await this.#range({ key: storableKey(key), revision: options.revision })).kvs[0];
  }

  async isNewest(key: Key, modRevision: number): Promise<boolean> {
    const { kvs } = await this.#range({ key: storableKey(key), keysOnly: true });
    return kvs[0]?.modRevision === modRevision;
  }

  async list(prefix: Key, options: KeyListOptions = {}): Promise<ListResult> {
    checkRevision(options.revision);
    checkRevision(options.limit);
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    let { revision } = options;
    const range = rangeOfPrefix(keyBytes(prefix));
    let { key } = range;
    if (options.startAfter !== undefined) {
      const after = nextKey(keyBytes(options.startAfter));
      if (after.compare(key) > 0) key = after;
    }
    const items: KeyValue[] = [];
    let pageKeys = PAGE_KEYS_MAX;
    while (true) {
      let page: RangeResponse;
      try {
        page = await this.#range({ ...range, key, limit: Math.min(pageKeys, limit - items.length), revision });
      } catch (error) {
        if (!isStorageError(error, 'too-large') || pageKeys === 1) throw error;
        pageKeys = Math.max(1, Math.floor(pageKeys / PAGE_SHRINK));
        continue;
      }
      // All pages are read at the revision of the first.
      revision ??= page.revision;
      for (const kv of page.kvs) items.push(kv);
      const remainingCount = page.count - page.kvs.length;
      if (remainingCount <= 0 || items.length >= limit) return { items, revision, remainingCount };
      key = nextKey(page.kvs.at(-1)!.key);
    }
  }

  async create(key: Key, value: Uint8Array, options: KeyWriteOptions = {}): Promise<KeyValue> {
    const entry = storableEntry(key, value, { ...options, valueBytesMax: this.#valueBytesMax });
    return this.#withLease(options, async (lease) => {
      const answer = await this.#txn({
        ifModRevision: { key: entry.key, revision: 0 },
        success: [{ type: 'put', ...entry, lease }],
        failure: [{ type: 'range', key: entry.key }],
      });
      if (!answer.succeeded) throw failures.exists(entry.key, answer.kvs[0]?.[0]);
      return { ...entry, createRevision: answer.revision, modRevision: answer.revision };
    });
  }

  async update(
    key: Key,
    value: Uint8Array,
    expectedModRevision: number,
    options: KeyWriteOptions = {},
  ): Promise<KeyValue> {
    const entry = storableEntry(key, value, { ...options, valueBytesMax: this.#valueBytesMax });
    checkRevision(expectedModRevision);
    return this.#withLease(options, async (lease) => {
      const answer = await this.#txnAt(entry.key, expectedModRevision, [
        { type: 'put', ...entry, lease },
        // The response to a put has no createRevision.
        { type: 'range', key: entry.key, keysOnly: true },
      ]);
      return { ...entry, createRevision: answer.kvs[1]![0]!.createRevision, modRevision: answer.revision };
    });
  }

  async delete(key: Key, expectedModRevision?: number): Promise<DeleteResult> {
    const bytes = storableKey(key);
    const removal: TxnOperation[] = [{ type: 'delete', key: bytes }];
    checkRevision(expectedModRevision);
    const answer =
      expectedModRevision === undefined
        ? await this.#txn({ success: removal, failure: [] })
        : await this.#txnAt(bytes, expectedModRevision, removal);
    const deleted = answer.kvs[0]?.[0];
    if (deleted === undefined) throw failures.notFound(bytes);
    return { deleted, revision: answer.revision };
  }

  watch(prefix: Key, options: KeyWatchOptions): EtcdWatch {
    checkRevision(options.fromRevision);
    const place = { range: rangeOfPrefix(keyBytes(prefix)), fromRevision: options.fromRevision };
    const watch = new EtcdWatch(this.#client, place, {
      clock: this.#clock,
      newestRevision: () => this.currentRevision(),
      open: this.#watches,
    });
    if (this.#closed) watch.closeWithStore();
    return watch;
  }

  async currentRevision(): Promise<number> {
    // Only the header is needed, but of a linearizable read, which must name a key.
    return (await this.#range({ key: this.#probeKey, countOnly: true })).revision;
  }

  async compact(revision: number): Promise<void> {
    checkRevision(revision);
    try {
      await this.#client.call(METHODS.compact, encodeCompact(revision), 'repeatable');
    } catch (error) {
      // Another process has compacted to this revision or further.
      if (!isStorageError(error, 'compacted')) throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopCompaction();
    for (const watch of [...this.#watches]) watch.closeWithStore();
    this.#client.close();
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    return decodeRange(await this.#client.call(METHODS.range, encodeRange(request), 'repeatable'));
  }

  async #txn(request: TxnRequest): Promise<TxnResponse> {
    return decodeTxn(await this.#client.call(METHODS.txn, encodeTxn(request), 'write'));
  }

  /** Runs the operations if the key was last written at this revision. Throws `not-found` or `conflict` if not. */
  async #txnAt(key: Buffer, expectedModRevision: number, success: TxnOperation[]): Promise<TxnResponse> {
    const answer = await this.#txn({
      ifModRevision: { key, revision: expectedModRevision },
      success,
      failure: [{ type: 'range', key }],
    });
    if (answer.succeeded) return answer;
    const current = answer.kvs[0]?.[0];
    if (current === undefined) throw failures.notFound(key);
    throw failures.conflict(key, expectedModRevision, current);
  }

  async #withLease(options: KeyWriteOptions, write: (lease: bigint) => Promise<KeyValue>): Promise<KeyValue> {
    const lease = options.ttlSeconds === undefined ? NO_LEASE : await this.#leases.acquire(options.ttlSeconds);
    try {
      return await write(lease.id);
    } catch (error) {
      // After an uncertain write the lease must stay: revoking it would delete the key.
      if (!isStorageError(error, 'uncertain')) lease.release();
      throw error;
    }
  }
}
