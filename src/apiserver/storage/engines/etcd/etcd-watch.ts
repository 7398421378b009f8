import type { Clock } from '../../../../base/clock.js';
import type { KeyEvent, WatchBatch } from '../../backend.js';
import { EngineWatch } from '../../engine-watch.js';
import { failures, isStorageError, StorageError } from '../../storage-error.js';
import { type EtcdClient, isStaleToken } from './etcd-client.js';
import {
  decodeWatch,
  type EtcdEvent,
  encodeWatchCreate,
  encodeWatchProgress,
  type KeyRange,
  METHODS,
  type WatchResponse,
} from './etcd-messages.js';
import { GRPC, GrpcError, toStorageError } from './grpc-error.js';
import type { GrpcCall } from './grpc-session.js';

/** A watch whose members have all failed for this long throws. */
const RESUME_MS_MAX = 30_000;
const BACKOFF_FIRST_MS = 25;
const BACKOFF_MS_MAX = 1_000;
/** A member that lags behind answers a progress request with too low a revision, or never. */
const PROGRESS_RETRY_MS = 100;
/** Bound on the events of one response in all its fragments. */
const FRAGMENTS_EVENTS_MAX = 1_000_000;

/** A watch that resumes at another member, at its position, when the connection to a member is lost. */
export class EtcdWatch extends EngineWatch {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #range: KeyRange;
  readonly #newestRevision: () => Promise<number>;
  #nextRevision: number;
  #call: GrpcCall | undefined;
  /** The revision that requested progress must reach; 0 if none is requested. */
  #wantedRevision = 0;
  #cancelAsking: () => void = () => {};
  #parts: EtcdEvent[] = [];

  constructor(
    client: EtcdClient,
    place: { range: KeyRange; fromRevision: number },
    parts: { clock: Clock; newestRevision: () => Promise<number>; open: Set<EngineWatch> },
  ) {
    super(parts.open);
    this.#client = client;
    this.#range = place.range;
    this.#nextRevision = place.fromRevision;
    this.#clock = parts.clock;
    this.#newestRevision = parts.newestRevision;
  }

  requestProgress(): void {
    if (this.isEnded) return;
    // The member that serves the watch may lag behind: it must reach the cluster's revision.
    this.#newestRevision().then(
      (revision) => {
        this.#wantedRevision = Math.max(this.#wantedRevision, revision);
        this.#askProgress();
      },
      () => this.#clock.after(PROGRESS_RETRY_MS, () => this.requestProgress()),
    );
  }

  protected release(): void {
    this.#cancelAsking();
    this.#call?.fail(closedByReader());
  }

  protected async *batches(): AsyncGenerator<WatchBatch, void> {
    let failedSinceMs: number | undefined;
    let backoffMs = BACKOFF_FIRST_MS;
    while (!this.isEnded) {
      try {
        for await (const batch of this.#batchesOfConnection()) {
          failedSinceMs = undefined;
          backoffMs = BACKOFF_FIRST_MS;
          yield batch;
        }
      } catch (error) {
        if (this.isEnded) return;
        failedSinceMs ??= this.#clock.nowMs();
        const patient = this.#clock.nowMs() - failedSinceMs < RESUME_MS_MAX;
        if (!patient || !canResume(error)) throw asStorageError(error);
        await this.#client.pause(backoffMs);
        backoffMs = Math.min(BACKOFF_MS_MAX, backoffMs * 2);
      }
    }
  }

  async *#batchesOfConnection(): AsyncGenerator<WatchBatch, void> {
    const { call, abandon } = await this.#client.stream(METHODS.watch, { hasleader: 'true' });
    this.#call = call;
    this.#parts = [];
    if (this.isEnded) call.fail(closedByReader());
    try {
      call.send(encodeWatchCreate(this.#range, this.#nextRevision));
      for await (const message of call.messages()) {
        const batch = this.#read(decodeWatch(message));
        if (batch === undefined) continue;
        this.#nextRevision = Math.max(this.#nextRevision, batch.revision + 1);
        if (batch.revision >= this.#wantedRevision) this.#wantedRevision = 0;
        yield batch;
        if (this.isEnded) return;
      }
      throw new GrpcError(GRPC.unavailable, 'the member ended the watch', true);
    } catch (error) {
      abandon(error);
      throw error;
    } finally {
      this.#call = undefined;
      call.fail(closedByReader());
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
    // With events, the revision of the header may be ahead of them: it is progress only without events.
    const revision = events.at(-1)?.revision ?? response.revision;
    return events.length > 0 || revision >= this.#nextRevision - 1 ? { events, revision } : undefined;
  }

  #cancellation({ compactRevision, cancelReason }: WatchResponse): Error {
    if (compactRevision > 0) return failures.compacted(this.#nextRevision, compactRevision);
    const status = cancelReason.includes('permission denied') ? GRPC.permissionDenied : GRPC.unavailable;
    return new GrpcError(status, cancelReason || 'the member cancelled the watch', true);
  }

  /** Requests progress until a batch reaches `#wantedRevision`, with one timer for all requests. */
  #askProgress(): void {
    this.#cancelAsking();
    if (this.#wantedRevision === 0 || this.#call === undefined) return;
    this.#call.send(encodeWatchProgress());
    this.#cancelAsking = this.#clock.after(PROGRESS_RETRY_MS, () => this.#askProgress());
  }
}

function closedByReader(): GrpcError {
  return new GrpcError(GRPC.unavailable, 'the watch is closed', true);
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
