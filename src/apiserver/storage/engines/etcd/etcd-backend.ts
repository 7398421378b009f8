import { type Clock, systemClock } from '../../../../base/clock.js';
import type { ConnectionTls } from '../../../../http/tls/connection-tls.js';
import type {
  Backend,
  DeleteResult,
  Key,
  KeyListOptions,
  KeyValue,
  KeyWatchOptions,
  KeyWriteOptions,
  ListResult,
  ReadOptions,
} from '../../backend.js';
import { type CompactionPolicy, compactInBackground, DEFAULT_COMPACTION } from '../../background-compaction.js';
import { checkRevision, keyBytes, nextKey, prefixEnd, storableKey } from '../../keys.js';
import { failures, isStorageError, StorageError } from '../../storage-error.js';
import { EtcdClient } from './etcd-client.js';
import {
  decodeRange,
  decodeTxn,
  encodeCompact,
  encodeRange,
  encodeTxn,
  METHODS,
  type RangeRequest,
  type RangeResponse,
  type TxnOperation,
  type TxnRequest,
  type TxnResponse,
} from './etcd-messages.js';
import { EtcdWatch } from './etcd-watch.js';
import { type HeldLease, LeasePool } from './lease-pool.js';

export interface EtcdOptions {
  /** `http://host:port` or `https://host:port`; the first that answers is used, the others when it fails. */
  readonly endpoints: readonly string[];
  readonly tls?: ConnectionTls;
  readonly credentials?: { readonly name: string; readonly password: string };
  readonly clock?: Clock;
  readonly compaction?: CompactionPolicy;
  readonly requestTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** The largest answer that is taken in one piece. */
  readonly messageBytesMax?: number;
  /** Values larger than this are not sent. etcd has its own limit (1.5 MiB for a request unless told otherwise). */
  readonly valueBytesMax?: number;
  /** A key that this user may read, existing or not: how the newest revision is asked for. */
  readonly probeKey?: string;
  /** Told of failures in the background; the work is tried again by itself. */
  readonly onError?: (error: unknown) => void;
}

const REQUEST_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MESSAGE_BYTES_MAX = 64 * 2 ** 20;
const VALUE_BYTES_MAX = 8 * 2 ** 20;
/** Keys asked for at once; a long list is put together from several answers of one revision. */
const PAGE_KEYS_MAX = 1000;
/** How much smaller the next attempt is when an answer was too large. */
const PAGE_SHRINK = 10;
const PROBE_KEY = '/registry/health';
const NO_LEASE: HeldLease = { id: 0n, release: () => {} };
const NO_END = Buffer.of(0);

/** Connects to an etcd cluster; fails with `unavailable` or `denied` where no endpoint serves. */
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
  readonly #watches = new Set<EtcdWatch>();
  readonly #stopCompaction: () => void;
  #closed = false;

  constructor(options: EtcdOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#client = new EtcdClient({
      endpoints: options.endpoints,
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
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
    const request = { key: storableKey(key), ...this.#revisionOf(options) };
    return (await this.#range(request)).kvs[0];
  }

  async isNewest(key: Key, modRevision: number): Promise<boolean> {
    const { kvs } = await this.#range({ key: storableKey(key), keysOnly: true });
    return kvs[0]?.modRevision === modRevision;
  }

  async list(prefix: Key, options: KeyListOptions = {}): Promise<ListResult> {
    const start = keyBytes(prefix);
    const rangeEnd = prefixEnd(start) ?? NO_END;
    if (options.limit !== undefined) checkRevision(options.limit, 1);
    const limit = options.limit ?? Number.POSITIVE_INFINITY;
    let { revision } = this.#revisionOf(options);
    let key = start.length === 0 ? NO_END : start;
    if (options.startAfter !== undefined) {
      const after = nextKey(keyBytes(options.startAfter));
      if (after.compare(key) > 0) key = after;
    }
    const items: KeyValue[] = [];
    let pageKeys = PAGE_KEYS_MAX;
    while (true) {
      let page: RangeResponse;
      try {
        const pageLimit = Math.min(pageKeys, limit - items.length);
        page = await this.#range({ key, rangeEnd, limit: pageLimit, ...(revision === undefined ? {} : { revision }) });
      } catch (error) {
        if (!isStorageError(error, 'too-large') || pageKeys === 1) throw error;
        pageKeys = Math.max(1, Math.floor(pageKeys / PAGE_SHRINK));
        continue;
      }
      // All further pages are of the first one's moment.
      revision ??= page.revision;
      for (const kv of page.kvs) items.push(kv);
      const remainingCount = page.count - page.kvs.length;
      if (remainingCount <= 0 || items.length >= limit) return { items, revision, remainingCount };
      key = nextKey(page.kvs.at(-1)!.key);
    }
  }

  async create(key: Key, value: Uint8Array, options: KeyWriteOptions = {}): Promise<KeyValue> {
    const entry = this.#checkEntry(key, value, options);
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
    const entry = this.#checkEntry(key, value, options);
    checkRevision(expectedModRevision, 1);
    return this.#withLease(options, async (lease) => {
      const answer = await this.#txnAt(entry.key, expectedModRevision, [
        { type: 'put', ...entry, lease },
        // The put itself does not say when the key was made.
        { type: 'range', key: entry.key, keysOnly: true },
      ]);
      return { ...entry, createRevision: answer.kvs[1]![0]!.createRevision, modRevision: answer.revision };
    });
  }

  async delete(key: Key, expectedModRevision?: number): Promise<DeleteResult> {
    const bytes = storableKey(key);
    const removal: TxnOperation[] = [{ type: 'delete', key: bytes }];
    if (expectedModRevision !== undefined) checkRevision(expectedModRevision, 1);
    const answer =
      expectedModRevision === undefined
        ? await this.#txn({ success: removal, failure: [] })
        : await this.#txnAt(bytes, expectedModRevision, removal);
    const deleted = answer.kvs[0]?.[0];
    if (deleted === undefined) throw failures.notFound(bytes);
    return { deleted, revision: answer.revision };
  }

  watch(prefix: Key, options: KeyWatchOptions): EtcdWatch {
    checkRevision(options.fromRevision, 1);
    const place = { prefix: keyBytes(prefix), fromRevision: options.fromRevision };
    const watch = new EtcdWatch(this.#client, place, {
      clock: this.#clock,
      newestRevision: () => this.currentRevision(),
      onEnd: (ended) => this.#watches.delete(ended),
    });
    if (this.#closed) watch.closeWithStore();
    else this.#watches.add(watch);
    return watch;
  }

  async currentRevision(): Promise<number> {
    // Only the header is wanted, but of a read that the whole cluster agrees on, and that needs a key.
    return (await this.#range({ key: this.#probeKey, countOnly: true })).revision;
  }

  async compact(revision: number): Promise<void> {
    checkRevision(revision, 1);
    try {
      await this.#client.call(METHODS.compact, encodeCompact(revision), 'repeatable');
    } catch (error) {
      // Somebody else was faster, or went further.
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

  /** Does these operations if the key was last written at this revision, and fails as the contract says if not. */
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
      // Where the write may have happened the lease must stay: revoking it would delete the key.
      if (!isStorageError(error, 'uncertain')) lease.release();
      throw error;
    }
  }

  #revisionOf(options: ReadOptions): { revision?: number } {
    if (options.revision === undefined) return {};
    checkRevision(options.revision, 1);
    return { revision: options.revision };
  }

  #checkEntry(key: Key, value: Uint8Array, { ttlSeconds }: KeyWriteOptions): { key: Buffer; value: Buffer } {
    const bytes = storableKey(key);
    if (value.length > this.#valueBytesMax) throw failures.tooLarge('the value', value.length, this.#valueBytesMax);
    if (ttlSeconds !== undefined && !(ttlSeconds > 0)) {
      throw new StorageError('invalid', `${ttlSeconds} is no time to live`);
    }
    return { key: bytes, value: keyBytes(value) };
  }
}
