import { createRequire } from 'node:module';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { BodyStream } from '../core/body-stream.js';
import type { Reply } from '../core/exchange.js';
import { AttemptError } from '../core/host.js';
import type { Destination, Lane, OutgoingRequest } from '../core/outgoing.js';
import { StatusError } from '../core/status-error.js';
import { attemptError } from './attempt-errors.js';
import { ClientPool } from './client-pool.js';
import type { ConnectionTls } from './connection-tls.js';
import type { Reach } from './reach.js';
import { replyHeaders } from './reply-headers.js';
import { type Place, SharedConnections } from './shared-connections.js';
import { StreamAttempt } from './stream-attempt.js';
import { openUpgrade } from './upgrade.js';

type Undici = typeof import('undici');

/** Loaded when the first request goes out: it takes longer to load than most of the rest, and a server alone sends none. */
function undici(): Undici {
  loaded ??= createRequire(import.meta.url)('undici') as Undici;
  return loaded;
}

let loaded: Undici | undefined;

export interface PooledDestinationOptions {
  /** host:port, an IPv6 host in brackets */
  readonly address: string;
  readonly tls: ConnectionTls;
  readonly connectTimeoutMs: number;
  /** Idle connections are closed after this long; below what kube-apiserver allows, so that we close first. */
  readonly keepAliveMs: number;
  readonly onClose?: () => void;
  readonly reach?: Reach;
}

/**
 * One server over HTTP/1.1 keep-alive connections, one pool a lane. HTTP/1.1 because from Node.js it carries about
 * one and a half times the requests that HTTP/2 does; watches, of which there are thousands, share HTTP/2 connections.
 * The number of connections is bounded by the limits on requests in flight before this, not here.
 */
export class PooledDestination implements Destination {
  readonly address: string;
  readonly #options: PooledDestinationOptions;
  #tls: ConnectionTls;
  #pools = new Map<Lane, ClientPool>();
  #shared = new Map<Lane, SharedConnections>();
  readonly #waiting = new Set<Attempt | StreamAttempt>();
  #inFlight = 0;
  #closed = false;

  constructor(options: PooledDestinationOptions) {
    this.address = options.address;
    this.#options = options;
    this.#tls = options.tls;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  send(request: OutgoingRequest): Promise<Reply> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return request.isWatch && request.body === null ? this.#sendBesideOthers(request) : this.#sendAlone(request);
  }

  /** On a stream of a connection that is shared, where the server speaks HTTP/2. */
  async #sendBesideOthers(request: OutgoingRequest): Promise<Reply> {
    let place: Place | undefined;
    try {
      place = await this.#sharedConnections(request.lane).take();
    } catch (error) {
      throw attemptError(this.address, error, false);
    }
    if (!place) return this.#closed ? Promise.reject(this.#closedError()) : this.#sendAlone(request);
    const taken = place;
    return new Promise((resolve, reject) => {
      const onState = (state: 'head' | 'done') => {
        this.#waiting.delete(attempt);
        if (state === 'done') this.#inFlight -= 1;
      };
      const attempt = new StreamAttempt(this.address, request, { resolve, reject, onState });
      this.#inFlight += 1;
      this.#waiting.add(attempt);
      if (attempt.start(taken)) return;
      onState('done');
      taken.giveBack();
      this.#sendAlone(request).then(resolve, reject);
    });
  }

  #sendAlone(request: OutgoingRequest): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const pool = this.#pool(request.lane);
      const client = pool.take();
      const attempt = new Attempt(this.address, request, { resolve, reject }, (state) => {
        this.#waiting.delete(attempt);
        if (state === 'head') return;
        this.#inFlight -= 1;
        pool.giveBack(client, state === 'answered');
      });
      this.#inFlight += 1;
      this.#waiting.add(attempt);
      attempt.start(client, this.#tls.servername);
    });
  }

  async upgrade(request: OutgoingRequest): Promise<Reply> {
    if (this.#closed) throw this.#closedError();
    this.#inFlight += 1;
    let reply: Reply;
    try {
      await this.#options.reach?.admit(this.address).catch((error: unknown) => {
        throw attemptError(this.address, error, false);
      });
      reply = await openUpgrade(this.address, this.#laneTls(request.lane), request, this.#options.connectTimeoutMs);
    } catch (error) {
      this.#inFlight -= 1;
      throw error;
    }
    if (reply.upgraded) {
      reply.upgraded.socket.once('close', () => (this.#inFlight -= 1));
      this.#options.reach?.opened(this.address, reply.upgraded.socket);
    } else this.#inFlight -= 1;
    return reply;
  }

  abandonWaiting(reason: string): void {
    for (const attempt of [...this.#waiting]) {
      attempt.abandon(
        new AttemptError(attempt.mayBeProcessed ? 'maybe' : 'unsent', 'hang', `${this.address}: ${reason}`),
      );
    }
  }

  /** New certificates or CA: what is under way ends on the old connections, new requests use new ones. */
  replaceTls(tls: ConnectionTls): void {
    this.#tls = tls;
    const old = [...this.#pools.values()];
    this.#pools = new Map();
    for (const pool of old) pool.close();
    for (const shared of this.#shared.values()) shared.close();
    this.#shared = new Map();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.onClose?.();
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    for (const shared of this.#shared.values()) shared.destroy(this.#closedError());
    this.#shared.clear();
    await Promise.all(pools.map((pool) => pool.destroy(this.#closedError())));
  }

  #closedError(): AttemptError {
    return new AttemptError('unsent', 'closed', `${this.address}: no longer a server of this control plane`);
  }

  #laneTls(lane: Lane): ConnectionTls {
    return lane === 'front-proxy' ? this.#tls : { ...this.#tls, cert: undefined, key: undefined };
  }

  #pool(lane: Lane): ClientPool {
    const known = this.#pools.get(lane);
    if (known) return known;
    // One for all connections of the lane: they resume each other's TLS sessions.
    const connect = this.#connector(this.#laneTls(lane), false);
    const { keepAliveMs } = this.#options;
    const origin = `https://${this.address}`;
    const make = () =>
      new (undici().Client)(origin, {
        pipelining: 1,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMs,
        headersTimeout: 0,
        bodyTimeout: 0,
        strictContentLength: true,
        maxHeaderSize: 256 * 1024,
        allowH2: false,
        connect,
      });
    const pool = new ClientPool(make);
    this.#pools.set(lane, pool);
    return pool;
  }

  #sharedConnections(lane: Lane): SharedConnections {
    const known = this.#shared.get(lane);
    if (known) return known;
    const { connectTimeoutMs, keepAliveMs } = this.#options;
    const tls = this.#laneTls(lane);
    const connect = this.#connector(tls, true);
    const origin = new URL(`https://${this.address}`);
    const target = {
      hostname: origin.hostname,
      host: origin.host,
      protocol: origin.protocol,
      port: origin.port,
      ...(tls.servername === undefined ? {} : { servername: tls.servername }),
    };
    const shared = new SharedConnections({
      origin: origin.origin,
      greetingTimeoutMs: connectTimeoutMs,
      idleMs: keepAliveMs,
      dial: () =>
        new Promise((resolve, reject) =>
          connect(target, (...[error, socket]) => (error === null ? resolve(socket) : reject(error))),
        ),
    });
    this.#shared.set(lane, shared);
    return shared;
  }

  #connector(tls: ConnectionTls, allowH2: boolean): buildConnector.connector {
    const connect = undici().buildConnector({
      allowH2,
      timeout: this.#options.connectTimeoutMs,
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.servername === undefined ? {} : { servername: tls.servername }),
      ...(tls.cert === undefined ? {} : { cert: tls.cert, key: tls.key }),
      ...(tls.insecureSkipVerify ? { rejectUnauthorized: false } : {}),
    });
    const { reach } = this.#options;
    if (!reach) return connect;
    return (target, callback) => {
      reach.admit(this.address).then(
        () =>
          connect(target, (...outcome) => {
            const [error, socket] = outcome;
            if (error === null) reach.opened(this.address, socket);
            callback(...outcome);
          }),
        (error: Error) => callback(error, null),
      );
    };
  }
}

const CALLERS_FAULT = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);

/** Its head has come; all of it has; or it ended in any other way. One of the last two comes once. */
type AttemptState = 'head' | 'answered' | 'failed';

interface Settle {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/**
 * One request on one connection, as undici's raw callbacks: headers come as the bytes on the wire, and the body goes to
 * its receiver without passing through a stream.
 */
class Attempt {
  #abort: ((error?: Error) => void) | undefined;
  #resumeSocket: (() => void) | undefined;
  #paused = false;
  #body: BodyStream | undefined;
  #begun = false;
  #done = false;
  #failure: Error | undefined;
  #stopListening: () => void = () => {};

  constructor(
    readonly address: string,
    readonly request: OutgoingRequest,
    readonly settle: Settle,
    readonly onState: (state: AttemptState) => void,
  ) {}

  start(client: Client, servername: string | undefined): void {
    const { method, target, headers, body, headTimeoutMs } = this.request;
    this.#stopListening = this.request.onAbort(() =>
      this.abandon(new AttemptError('maybe', 'aborted', 'the client left')),
    );
    if (this.#done) return;
    try {
      client.dispatch(
        {
          method: method as 'GET',
          path: target,
          headers: headers as string[],
          body: body as Buffer | null,
          headersTimeout: headTimeoutMs,
          bodyTimeout: 0,
          // Left out, it would be taken from the client's Host header, and connections verified against that name.
          ...(servername === undefined ? {} : { servername }),
        } as Dispatcher.DispatchOptions,
        this as unknown as Dispatcher.DispatchHandler,
      );
    } catch (error) {
      this.onError(error as Error);
    }
  }

  /** A stream counts as taken although no connection was made yet: the one being made would destroy it in the end. */
  get mayBeProcessed(): boolean {
    const { body } = this.request;
    return this.#begun || (body !== null && !(body instanceof Uint8Array));
  }

  /** Ends the attempt from our side, whatever stage it is in. */
  abandon(error: Error): void {
    if (this.#done) return;
    this.#failure = error;
    if (this.#abort) this.#abort(error);
    else this.onError(error);
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#done) {
      abort(this.#failure);
      return;
    }
    this.#abort = abort;
    this.#begun = true;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    // Informational answers (100, 103) precede the real one and concern only this hop.
    if (status < 200) return true;
    this.onState('head');
    this.#resumeSocket = resume;
    this.#body = new BodyStream({
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        this.#resumeSocket?.();
      },
      cancel: (error) => this.abandon(error),
    });
    this.settle.resolve({ status, headers: replyHeaders(rawHeaders), body: this.#body });
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#body!.push(chunk);
    return !this.#paused;
  }

  onComplete(rawTrailers: Buffer[] | null): void {
    this.#finish('answered');
    this.#body!.end(rawTrailers ? rawTrailers.map((part) => part.toString('latin1')) : []);
  }

  onError(cause: Error): void {
    if (this.#done) return;
    this.#finish('failed');
    const error = this.#refusal(cause) ?? attemptError(this.address, this.#failure ?? cause, this.#begun);
    if (this.#body) this.#body.fail(error);
    else this.settle.reject(error);
  }

  /** Failures that the caller made, not the server: they must not count against the server. */
  #refusal(cause: Error): Error | undefined {
    const { body } = this.request;
    if (body !== null && 'errored' in body && body.errored) {
      return new AttemptError('maybe', 'aborted', 'the client left in the middle of its request');
    }
    const code = (cause as NodeJS.ErrnoException).code;
    if (code !== undefined && CALLERS_FAULT.has(code)) {
      return new StatusError('BadRequest', `the request cannot be sent on as it is: ${cause.message}`);
    }
    return undefined;
  }

  #finish(state: 'answered' | 'failed'): void {
    this.#done = true;
    this.#stopListening();
    this.onState(state);
  }
}
