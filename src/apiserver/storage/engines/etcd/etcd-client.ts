import type { Clock } from '../../../../base/clock.js';
import type { ConnectionTls } from '../../../../http/tls/connection-tls.js';
import { failures, StorageError } from '../../storage-error.js';
import { decodeAuthenticate, encodeAuthenticate, METHODS } from './etcd-messages.js';
import { type CallKind, GRPC, GrpcError, toStorageError } from './grpc-error.js';
import { type GrpcCall, type GrpcLimits, GrpcSession, type Metadata } from './grpc-session.js';

export interface EtcdClientOptions {
  /** `http://host:port` or `https://host:port`, all of one cluster. */
  readonly endpoints: readonly string[];
  readonly tls?: ConnectionTls;
  readonly credentials?: { readonly name: string; readonly password: string };
  readonly clock: Clock;
  /** Timeout of one call with all its attempts. */
  readonly requestTimeoutMs: number;
  readonly limits: GrpcLimits;
}

/** Bound on concurrent calls; more are refused, so that a stalled cluster cannot exhaust the memory. */
const CALLS_MAX = 10_000;
const ATTEMPTS_MAX = 4;
const BACKOFF_FIRST_MS = 25;

/**
 * Sends calls to one member at a time over one shared connection. When the connection is lost, or its
 * member is unavailable, calls go to the next endpoint.
 */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #endpointIndex = 0;
  #session: GrpcSession | undefined;
  #connecting: Promise<GrpcSession> | undefined;
  #token: Promise<string> | undefined;
  #calls = 0;
  #closed = false;

  constructor(options: EtcdClientOptions) {
    if (options.endpoints.length === 0) throw new StorageError('invalid', 'no etcd endpoint is given');
    const odd = options.endpoints.find(
      (endpoint) => !/^https?:\/\/[^/]+\/?$/.test(endpoint) || !URL.canParse(endpoint),
    );
    if (odd !== undefined) throw new StorageError('invalid', `${odd} is no etcd endpoint: http(s)://host:port is one`);
    this.#options = options;
  }

  /** Fails with StorageError: `uncertain` for a write that may have happened. */
  async call(method: string, message: Uint8Array, kind: CallKind): Promise<Buffer> {
    if (this.#calls >= CALLS_MAX) throw new StorageError('unavailable', 'too many calls are waiting for etcd');
    this.#calls++;
    try {
      return await this.#callWithRetries(method, message, kind);
    } finally {
      this.#calls--;
    }
  }

  async #callWithRetries(method: string, message: Uint8Array, kind: CallKind): Promise<Buffer> {
    const { clock, requestTimeoutMs } = this.#options;
    const deadlineMs = clock.nowMs() + requestTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(method, message, deadlineMs);
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error;
        const nextMs = clock.nowMs() + BACKOFF_FIRST_MS * 2 ** attempt;
        if (this.#closed)
          throw error.maybeProcessed && kind === 'write' ? toStorageError(error, kind) : failures.closed();
        if (attempt === ATTEMPTS_MAX || nextMs >= deadlineMs || !mayRepeat(error, kind)) {
          throw toStorageError(error, kind);
        }
        // After a stale token the next attempt needs no pause: the member is available.
        if (!isStaleToken(error)) await this.pause(nextMs - clock.nowMs());
      }
    }
  }

  /** Opens a streaming call. Rejects with GrpcError, as its messages do; the caller decides about retries. */
  async stream(method: string, metadata: Metadata): Promise<{ call: GrpcCall; abandon: (error: unknown) => void }> {
    const session = await this.#connected();
    const token = await this.#metadata(session, this.#options.requestTimeoutMs);
    const call = session.open(method, { ...metadata, ...token });
    return { call, abandon: (error) => this.#settle(error, session) };
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(delayMs, resolve));
  }

  close(): void {
    this.#closed = true;
    this.#session?.destroy();
  }

  async #attempt(method: string, message: Uint8Array, deadlineMs: number): Promise<Buffer> {
    const { clock } = this.#options;
    const session = await this.#connected();
    try {
      const metadata = await this.#metadata(session, deadlineMs - clock.nowMs());
      return await session.unary(method, message, metadata, Math.max(1, deadlineMs - clock.nowMs()));
    } catch (error) {
      this.#settle(error, session);
      throw error;
    }
  }

  /** Forgets the token or the connection that a failure has shown to be unusable. */
  #settle(error: unknown, session: GrpcSession): void {
    if (!(error instanceof GrpcError)) return;
    if (isStaleToken(error)) this.#token = undefined;
    if (error.status !== GRPC.unavailable && session.usable) return;
    if (this.#session === session) {
      this.#session = undefined;
      this.#endpointIndex++;
    }
    session.retire();
  }

  #connected(): Promise<GrpcSession> {
    if (this.#closed) throw failures.closed();
    if (this.#session?.usable) return Promise.resolve(this.#session);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Tries every endpoint once, beginning with the current one. */
  async #connect(): Promise<GrpcSession> {
    const { endpoints, tls = {}, clock, limits } = this.#options;
    let failure: unknown;
    for (let tried = 0; tried < endpoints.length && !this.#closed; tried++) {
      const endpoint = endpoints[this.#endpointIndex % endpoints.length]!;
      try {
        const session = await GrpcSession.connect(endpoint, tls, clock, limits);
        if (this.#closed) session.destroy();
        this.#session = session;
        return session;
      } catch (error) {
        failure = error;
        this.#endpointIndex++;
      }
    }
    throw failure ?? failures.closed();
  }

  async #metadata(session: GrpcSession, timeoutMs: number): Promise<Metadata> {
    const { credentials } = this.#options;
    if (credentials === undefined) return {};
    this.#token ??= authenticate(session, credentials, Math.max(1, timeoutMs));
    const mine = this.#token;
    try {
      const token = await mine;
      return token === '' ? {} : { token };
    } catch (error) {
      if (this.#token === mine) this.#token = undefined;
      throw error;
    }
  }
}

async function authenticate(
  session: GrpcSession,
  credentials: { readonly name: string; readonly password: string },
  timeoutMs: number,
): Promise<string> {
  try {
    return decodeAuthenticate(
      await session.unary(METHODS.authenticate, encodeAuthenticate(credentials), {}, timeoutMs),
    );
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    // Credentials are ignored while authentication is not enabled in the cluster.
    if (error.status === GRPC.failedPrecondition && error.message.includes('authentication is not enabled')) return '';
    // The call itself was not sent: `maybeProcessed` is false.
    throw new GrpcError(error.status, error.message, false, error);
  }
}

export function isStaleToken(error: GrpcError): boolean {
  return error.message.includes('invalid auth token') || error.message.includes('revision of auth store is old');
}

function mayRepeat(error: GrpcError, kind: CallKind): boolean {
  // Refused for its token, or by a member without a leader: not processed.
  if (isStaleToken(error) || error.message === 'etcdserver: no leader') return true;
  return error.status === GRPC.unavailable && (kind === 'repeatable' || !error.maybeProcessed);
}
