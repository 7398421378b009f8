import { AttemptError, attemptError } from '../attempt-error.js';
import type { Reply } from '../exchange.js';
import type { Destination, Lane, OutgoingRequest } from '../outgoing.js';
import type { ConnectionTls } from '../tls/connection-tls.js';
import { ConnectionPool } from './connection-pool.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { Dialler } from './dialler.js';
import { type AttemptEvents, Http1Attempt } from './http1-attempt.js';
import type { Http1Connection } from './http1-connection.js';
import { requestHead } from './http1-request-head.js';
import type { Reach } from './reach.js';
import { type Place, SharedConnections } from './shared-connections.js';
import { StreamAttempt } from './stream-attempt.js';
import { underWay } from './under-way.js';
import { openUpgrade } from './upgrade.js';

const HTTP1 = ['http/1.1'];
const HTTP2_OR_1 = ['h2', 'http/1.1'];
/**
 * Bound on request heads sent over a shared HTTP/2 connection. HTTP/2 implementations limit
 * headers: above their limit a stream is refused, and the server would count as down, or the
 * connection is closed with the watches of other clients. This bound is far below those limits.
 */
const SHARED_HEAD_BYTES_MAX = 16 * 1024;

export interface PooledDestinationOptions {
  /** host:port, an IPv6 host in brackets */
  readonly address: string;
  readonly tls: ConnectionTls;
  readonly connectTimeoutMs: number;
  /** Keep-alive time, below that of kube-apiserver, so that the client closes first. */
  readonly keepAliveMs: number;
  readonly onClose?: () => void;
  readonly reach?: Reach;
}

/**
 * One server over HTTP/1.1 keep-alive connections, one pool per lane. HTTP/1.1, because with
 * Node.js its throughput is about 1.5 times that of HTTP/2; watches, of which there are thousands,
 * share HTTP/2 connections. The number of connections is not bounded here, but by the limits on
 * requests in flight.
 */
export class PooledDestination implements Destination {
  readonly address: string;
  readonly #options: PooledDestinationOptions;
  #tls: ConnectionTls;
  #pools = new Map<Lane, ConnectionPool>();
  #shared = new Map<Lane, SharedConnections>();
  /** Connections of all pools, closing ones included. */
  readonly #connections = new DeadlineSweep<Http1Connection>();
  /** Open streams on all shared connections, those with replaced certificates included. */
  readonly #streams = new Set<StreamAttempt>();
  readonly #load: Load = { inFlight: 0 };
  #closed = false;

  constructor(options: PooledDestinationOptions) {
    this.address = options.address;
    this.#options = options;
    this.#tls = options.tls;
  }

  get inFlight(): number {
    return this.#load.inFlight;
  }

  send(request: OutgoingRequest): Promise<Reply> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return request.isWatch && request.body === null ? this.#sendBesideOthers(request) : this.#sendAlone(request);
  }

  /** Sends on a stream of a shared connection, or alone if the server does not support HTTP/2. */
  async #sendBesideOthers(request: OutgoingRequest): Promise<Reply> {
    // Throws a StatusError for a request that must not be sent in either protocol.
    const { text } = requestHead(request, this.address);
    if (text.length > SHARED_HEAD_BYTES_MAX) return this.#sendAlone(request);
    let place: Place | undefined;
    try {
      place = await this.#sharedConnections(request.lane).take();
    } catch (error) {
      throw attemptError(this.address, error, false);
    }
    if (!place) return this.#closed ? Promise.reject(this.#closedError()) : this.#sendAlone(request);
    const taken = place;
    return new Promise((resolve, reject) => {
      const onOver = () => {
        this.#streams.delete(attempt);
        this.#load.inFlight -= 1;
      };
      const attempt = new StreamAttempt(this.address, request, { resolve, reject, onOver });
      this.#load.inFlight += 1;
      this.#streams.add(attempt);
      if (attempt.start(taken)) return;
      onOver();
      taken.giveBack();
      this.#sendAlone(request).then(resolve, reject);
    });
  }

  #sendAlone(request: OutgoingRequest): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const pool = this.#pool(request.lane);
      const attempt = new Http1Attempt(this.address, request, new Alone(resolve, reject, this.#load));
      this.#load.inFlight += 1;
      underWay.begin();
      if (attempt.listen()) pool.send(attempt);
    });
  }

  async upgrade(request: OutgoingRequest): Promise<Reply> {
    if (this.#closed) throw this.#closedError();
    this.#load.inFlight += 1;
    let reply: Reply;
    try {
      reply = await openUpgrade(this.address, this.#dialler(request.lane, HTTP1), request);
    } catch (error) {
      this.#load.inFlight -= 1;
      throw error;
    }
    if (reply.upgraded) reply.upgraded.socket.once('close', () => (this.#load.inFlight -= 1));
    else this.#load.inFlight -= 1;
    return reply;
  }

  abandonWaiting(reason: string): void {
    const error = (begun: boolean) =>
      new AttemptError(begun ? 'maybe' : 'unsent', 'hang', `${this.address}: ${reason}`);
    for (const connection of [...this.#connections.members]) connection.abandonWaiting(error);
    for (const attempt of [...this.#streams]) if (attempt.awaitsHead) attempt.abandon(error(attempt.mayBeProcessed));
  }

  /** Replaces certificates and CA: new requests use new connections. */
  replaceTls(tls: ConnectionTls): void {
    this.#tls = tls;
    this.renewConnections();
  }

  /** Opens new connections for new requests; the present ones close after their open requests. */
  renewConnections(): void {
    const old = [...this.#pools.values()];
    this.#pools = new Map();
    for (const pool of old) pool.close();
    for (const shared of this.#shared.values()) shared.close();
    this.#shared = new Map();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.onClose?.();
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
    const { message } = this.#closedError();
    for (const attempt of [...this.#streams]) {
      attempt.abandon(new AttemptError(attempt.mayBeProcessed ? 'maybe' : 'unsent', 'closed', message));
    }
    for (const shared of this.#shared.values()) shared.destroy(this.#closedError());
    this.#shared.clear();
    await Promise.all([...this.#connections.members].map((connection) => connection.destroy(message)));
    this.#connections.stop();
  }

  #closedError(): AttemptError {
    return new AttemptError('unsent', 'closed', `${this.address}: no longer a server of this control plane`);
  }

  #laneTls(lane: Lane): ConnectionTls {
    return lane === 'front-proxy' ? this.#tls : { ...this.#tls, cert: undefined, key: undefined };
  }

  #pool(lane: Lane): ConnectionPool {
    const known = this.#pools.get(lane);
    if (known) return known;
    const pool = new ConnectionPool({
      dialler: this.#dialler(lane, HTTP1),
      keepAliveMs: this.#options.keepAliveMs,
      sweep: this.#connections,
    });
    this.#pools.set(lane, pool);
    return pool;
  }

  #sharedConnections(lane: Lane): SharedConnections {
    const known = this.#shared.get(lane);
    if (known) return known;
    const { connectTimeoutMs, keepAliveMs } = this.#options;
    const dialler = this.#dialler(lane, HTTP2_OR_1);
    const shared = new SharedConnections({
      origin: `https://${this.address}`,
      greetingTimeoutMs: connectTimeoutMs,
      idleMs: keepAliveMs,
      dial: () => dialler.open(),
    });
    this.#shared.set(lane, shared);
    return shared;
  }

  #dialler(lane: Lane, protocols: readonly string[]): Dialler {
    const { connectTimeoutMs, reach } = this.#options;
    return new Dialler({
      address: this.address,
      tls: this.#laneTls(lane),
      timeoutMs: connectTimeoutMs,
      protocols,
      reach,
    });
  }
}

interface Load {
  inFlight: number;
}

class Alone implements AttemptEvents {
  constructor(
    readonly resolve: (reply: Reply) => void,
    readonly reject: (error: Error) => void,
    readonly load: Load,
  ) {}

  onOver(): void {
    this.load.inFlight -= 1;
    underWay.end();
  }
}
