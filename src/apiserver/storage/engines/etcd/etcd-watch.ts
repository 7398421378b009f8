import type { Clock } from '../../../../base/clock.js';
import type { KeyEvent, Watch, WatchBatch } from '../../backend.js';
import { prefixEnd } from '../../keys.js';
import { failures, isStorageError, StorageError } from '../../storage-error.js';
import { type EtcdClient, isStaleToken } from './etcd-client.js';
import {
  decodeWatch,
  type EtcdEvent,
  encodeWatchCreate,
  encodeWatchProgress,
  METHODS,
  type WatchResponse,
} from './etcd-messages.js';
import { GRPC, GrpcError } from './grpc-error.js';
import type { GrpcCall } from './grpc-session.js';
import { toStorageError } from './to-storage-error.js';

/** How long a watch tries to go on elsewhere before its reader is told. */
const RESUME_MS_MAX = 30_000;
const BACKOFF_FIRST_MS = 25;
const BACKOFF_MS_MAX = 1_000;
/** A member that is behind answers a progress request too low, or not at all: ask again. */
const PROGRESS_RETRY_MS = 100;
/** All parts of one response together. */
const FRAGMENTS_EVENTS_MAX = 1_000_000;
/** "From here on": how etcd wants a range without an end. */
const NO_END = Buffer.of(0);

/** A watch that goes on at another member, from where it was, when its own is lost. */
export class EtcdWatch implements Watch {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #prefix: Buffer;
  readonly #newestRevision: () => Promise<number>;
  readonly #onEnd: (watch: EtcdWatch) => void;
  #nextRevision: number;
  #state: 'new' | 'iterated' | 'closed' | 'store-closed' = 'new';
  #call: GrpcCall | undefined;
  /** Set while somebody waits for progress up to there. */
  #wantedRevision = 0;
  #cancelAsking: () => void = () => {};
  #parts: EtcdEvent[] = [];

  constructor(
    client: EtcdClient,
    place: { prefix: Buffer; fromRevision: number },
    parts: { clock: Clock; newestRevision: () => Promise<number>; onEnd: (watch: EtcdWatch) => void },
  ) {
    this.#client = client;
    this.#prefix = place.prefix;
    this.#nextRevision = place.fromRevision;
    this.#clock = parts.clock;
    this.#newestRevision = parts.newestRevision;
    this.#onEnd = parts.onEnd;
  }

  requestProgress(): void {
    if (this.#ended()) return;
    // The member that serves the watch may be behind; what it must reach is the cluster's revision.
    this.#newestRevision().then(
      (revision) => {
        this.#wantedRevision = Math.max(this.#wantedRevision, revision);
        this.#askProgress();
      },
      () => this.#clock.after(PROGRESS_RETRY_MS, () => this.requestProgress()),
    );
  }

  close(): void {
    this.#end('closed');
  }

  /** The store goes away under the watch: its reader must not take that for a quiet end. */
  closeWithStore(): void {
    this.#end('store-closed');
  }

  #end(state: 'closed' | 'store-closed'): void {
    if (this.#ended()) return;
    this.#state = state;
    this.#cancelAsking();
    this.#onEnd(this);
    this.#call?.fail(new GrpcError(GRPC.unavailable, 'the watch is closed', true));
  }

  #ended(): boolean {
    return this.#state === 'closed' || this.#state === 'store-closed';
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void> {
    if (this.#state === 'iterated') throw new StorageError('invalid', 'a watch can be read only once');
    if (this.#state === 'new') this.#state = 'iterated';
    try {
      yield* this.#resuming();
      if (this.#state === 'store-closed') throw failures.closed();
    } finally {
      this.close();
    }
  }

  async *#resuming(): AsyncGenerator<WatchBatch, void> {
    let failedSinceMs: number | undefined;
    let backoffMs = BACKOFF_FIRST_MS;
    while (!this.#ended()) {
      try {
        for await (const batch of this.#batches()) {
          failedSinceMs = undefined;
          backoffMs = BACKOFF_FIRST_MS;
          yield batch;
        }
      } catch (error) {
        if (this.#ended()) return;
        failedSinceMs ??= this.#clock.nowMs();
        const patient = this.#clock.nowMs() - failedSinceMs < RESUME_MS_MAX;
        if (!patient || !canResume(error)) throw asStorageError(error);
        await this.#client.pause(backoffMs);
        backoffMs = Math.min(BACKOFF_MS_MAX, backoffMs * 2);
      }
    }
  }

  /** One connection's worth of batches. */
  async *#batches(): AsyncGenerator<WatchBatch, void> {
    const { call, abandon } = await this.#client.stream(METHODS.watch, { hasleader: 'true' });
    this.#call = call;
    this.#parts = [];
    if (this.#ended()) call.fail(new GrpcError(GRPC.unavailable, 'the watch is closed', true));
    try {
      const rangeEnd = prefixEnd(this.#prefix) ?? NO_END;
      const key = this.#prefix.length === 0 ? NO_END : this.#prefix;
      call.send(encodeWatchCreate({ key, rangeEnd, startRevision: this.#nextRevision }));
      for await (const message of call.messages()) {
        const batch = this.#read(decodeWatch(message));
        if (batch === undefined) continue;
        this.#nextRevision = Math.max(this.#nextRevision, batch.revision + 1);
        this.#noteProgress(batch.revision);
        yield batch;
        if (this.#ended()) return;
      }
      throw new GrpcError(GRPC.unavailable, 'the member ended the watch', true);
    } catch (error) {
      abandon(error);
      throw error;
    } finally {
      this.#call = undefined;
      call.fail(new GrpcError(GRPC.unavailable, 'the watch is closed', true));
    }
  }

  #read(response: WatchResponse): WatchBatch | undefined {
    if (response.canceled) throw this.#cancellation(response);
    if (response.created) {
      this.#askProgress();
      return undefined;
    }
    this.#parts = this.#parts.length === 0 ? response.events : this.#parts.concat(response.events);
    if (response.fragment) {
      if (this.#parts.length > FRAGMENTS_EVENTS_MAX)
        throw new StorageError('too-large', 'etcd: a watch response has no end');
      return undefined;
    }
    const events = this.#parts.map(toEvent);
    this.#parts = [];
    // Beside events, the header's revision may be ahead of what was sent; only without events does it mean progress.
    const revision = events.at(-1)?.revision ?? response.revision;
    return events.length > 0 || revision >= this.#nextRevision - 1 ? { events, revision } : undefined;
  }

  #cancellation({ compactRevision, cancelReason }: WatchResponse): Error {
    if (compactRevision > 0) return failures.compacted(this.#nextRevision, compactRevision);
    const status = cancelReason.includes('permission denied') ? GRPC.permissionDenied : GRPC.unavailable;
    return new GrpcError(status, cancelReason || 'the member cancelled the watch', true);
  }

  /** Asks until it is answered; however often it was requested, one question at a time. */
  #askProgress(): void {
    this.#cancelAsking();
    if (this.#wantedRevision === 0 || this.#call === undefined) return;
    this.#call.send(encodeWatchProgress());
    this.#cancelAsking = this.#clock.after(PROGRESS_RETRY_MS, () => this.#askProgress());
  }

  #noteProgress(revision: number): void {
    if (revision >= this.#wantedRevision) this.#wantedRevision = 0;
  }
}

function toEvent({ deleted, kv, previous }: EtcdEvent): KeyEvent {
  const revision = kv.modRevision;
  return deleted
    ? { type: 'delete', revision, key: kv.key, previous }
    : { type: 'put', revision, current: kv, previous };
}

function canResume(error: unknown): boolean {
  if (!(error instanceof GrpcError)) return isStorageError(error, 'unavailable');
  return isStaleToken(error) || error.status === GRPC.unavailable || error.status === GRPC.deadlineExceeded;
}

function asStorageError(error: unknown): unknown {
  return error instanceof GrpcError ? toStorageError(error, 'repeatable') : error;
}
