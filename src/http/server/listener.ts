import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ClientConnection, Handler } from '../exchange.js';
import { headListBytesMax } from '../headers.js';
import { type ServerTls, serverTlsOptions } from '../tls/connection-tls.js';
import { clientConnection } from './client-connection.js';
import { ConnectionTable } from './connection-table.js';
import { HandshakeQueue } from './handshake-queue.js';
import { HandwrittenHttp2Server } from './handwritten-http2.js';
import { Http1Server } from './http1-server.js';
import type { Http2Server } from './http2-server.js';
import { LargeHeads } from './large-heads.js';
import {
  type CertificateOwner,
  CONNECTIONS_WAITING_MAX,
  HANDSHAKE_WAIT_MS_MAX,
  type HeadLimits,
  type ListenerLimit,
  type ListenerLimits,
} from './listener-limits.js';
import { NodeHttp2Server } from './node-http2.js';
import { OpenExchanges } from './open-exchanges.js';
import type { AnswerContext } from './reply-writer.js';

export type { CertificateOwner, ListenerLimit, ListenerLimits } from './listener-limits.js';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls;
  readonly limits: ListenerLimits;
  readonly handler: Handler;
  readonly clock: Clock;
  readonly logger: Logger;
  /** HTTP/2 implementation: `src/http/http2` (`own`, the default) or `node:http2`. */
  readonly http2?: 'own' | 'node';
  /**
   * Returns whose the client certificate of a connection is; undefined if it is not valid for the server. Called once for a
   * connection, after its TLS handshake; the request heads of those with an owner may be larger. Without it, none has one.
   */
  readonly certificateOwner?: (connection: ClientConnection) => CertificateOwner | undefined;
  /** Called for each connection or request that a limit ends; for a metric. */
  readonly onLimit?: (limit: ListenerLimit) => void;
}

/** What differs for connections of one kind of certificate owner. */
interface ByOwner {
  readonly head: HeadLimits;
  /** Undefined where no head is large. */
  readonly largeHeads: LargeHeads | undefined;
  readonly http1: Http1Server;
}

/** TLS listener on one port. ALPN selects HTTP/1.1 or HTTP/2 for each connection. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #tcp: TcpServer;
  readonly #tls: TlsServer;
  readonly #byOwner: Readonly<Record<CertificateOwner | 'nobody', ByOwner>>;
  readonly #http2: Http2Server;
  readonly #connections: ConnectionTable;
  readonly #handshakes: HandshakeQueue;
  readonly #open = new OpenExchanges();
  #cancelSweep: () => void = () => {};

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connections = new ConnectionTable(options.limits, options.clock, (limit) => this.#onLimit(limit));
    this.#handshakes = this.#createHandshakeQueue();
    const usersBytesMax = options.limits.largeHeadBytesMax * USERS_FRACTION;
    this.#byOwner = {
      nobody: this.#forOwner(options.limits, undefined),
      user: this.#forOwner(options.limits.authenticatedHead, usersBytesMax),
      // Users of one certificate each cannot keep the room of those that carry the groups of everybody.
      'front-proxy': this.#forOwner(options.limits.authenticatedHead, options.limits.largeHeadBytesMax - usersBytesMax),
    };
    this.#http2 = this.#createHttp2(options.http2 ?? 'own');
    this.#tls = this.#createTls();
    // No byte is read from a connection before its TLS handshake.
    this.#tcp = createTcp({ pauseOnConnect: true }, (socket) => this.#handshakes.enter(socket));
    this.#sweepLater();
  }

  get connectionCount(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  /** Memory of heads that are larger than those of connections whose certificate has no owner. */
  get largeHeadBytes(): number {
    return Object.values(this.#byOwner).reduce((sum, { largeHeads }) => sum + (largeHeads?.heldBytes ?? 0), 0);
  }

  async listen(): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#tcp.once('error', reject);
      this.#tcp.listen(this.#options.port, this.#options.host, () => {
        this.#tcp.off('error', reject);
        // For example EMFILE: the limit of open files is reached.
        this.#tcp.on('error', (error) => this.#options.logger.error('cannot accept connections', { error }));
        resolve();
      });
    });
    return this.#tcp.address() as AddressInfo;
  }

  /** Serves a connection that another listener accepted; no byte of it may have been read. */
  take(socket: Socket): void {
    if (this.#open.draining) socket.destroy();
    else this.#handshakes.enter(socket);
  }

  /** Replaces the certificates for new connections; open connections keep theirs. */
  replaceTls(tls: ServerTls): void {
    this.#tls.setSecureContext(serverTlsOptions(tls));
  }

  /**
   * Graceful shutdown. Accepts no new connections, closes idle ones, sends GOAWAY or `Connection:
   * close` on the others, lets open requests end, and ends watches at an event boundary. Requests
   * still open after `graceMs` are aborted. Resolves when the last connection is closed.
   */
  async close(graceMs: number): Promise<void> {
    this.#tcp.close();
    this.#handshakes.destroyAll();
    this.#open.drain();
    this.#http2.drain();
    this.#closeIdleHttp1();
    const cancelCut = this.#options.clock.after(graceMs, () => this.#cut());
    await this.#open.idle();
    // Keep-alive connections that have just sent their last reply are idle now.
    this.#closeIdleHttp1();
    this.#connections.destroyUnused();
    await this.#connections.allClosed();
    cancelCut();
    this.#cancelSweep();
    for (const { http1 } of Object.values(this.#byOwner)) http1.close();
  }

  /** Destroys all connections at once and accepts no new ones. */
  destroy(): void {
    this.#tcp.close();
    this.#handshakes.destroyAll();
    this.#cancelSweep();
    this.#connections.destroyAll();
  }

  /**
   * Schedules the sweep that ends requests and HTTP/2 connections whose clients make no progress.
   */
  #sweepLater(): void {
    const { clock, limits } = this.#options;
    this.#cancelSweep = clock.after(Math.max(1, limits.progressMs / SWEEPS_PER_PROGRESS_TIME), () => {
      const stalled = this.#open.endStalled(clock.nowMs(), limits.progressMs);
      for (let i = 0; i < stalled; i++) this.#onLimit('client-progress-timeout');
      this.#http2.endStalled(clock.nowMs());
      this.#sweepLater();
    });
  }

  #closeIdleHttp1(): void {
    for (const { http1 } of Object.values(this.#byOwner)) http1.closeIdleConnections();
  }

  #onLimit(limit: ListenerLimit): void {
    this.#options.onLimit?.(limit);
  }

  #cut(): void {
    this.#options.logger.warn('requests still open at the end of the shutdown grace period were aborted', {
      requests: this.#open.size,
    });
    this.#open.cut();
    // Later, so that HTTP/2 clients still receive RST_STREAM.
    setImmediate(() => {
      this.#connections.destroyAll();
    });
  }

  #createHandshakeQueue(): HandshakeQueue {
    const { clock, limits } = this.#options;
    return new HandshakeQueue({
      clock,
      waitMs: HANDSHAKE_WAIT_MS_MAX,
      waitingMax: () => limits.connectionsMax - this.#connections.size + CONNECTIONS_WAITING_MAX,
      admit: (socket) => this.#connections.admit(socket),
      begin: (socket) => {
        socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
        this.#tls.emit('connection', socket);
      },
      onOverflow: () => this.#onLimit('max-connections'),
    });
  }

  /** The TLS server listens on no port: its connections come from the queue of handshakes. */
  #createTls(): TlsServer {
    const { tls, limits, logger } = this.#options;
    const server = createTls({ ...serverTlsOptions(tls), handshakeTimeout: limits.headerTimeoutMs });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      const { http1, head, largeHeads } = this.#byOwner[this.#ownerOf(socket) ?? 'nobody'];
      if (socket.alpnProtocol === 'h2') this.#http2.accept(socket, head, largeHeads);
      else http1.accept(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      logger.debug('TLS handshake failed', { error });
      // Node reports a handshake timeout but does not close the socket.
      socket.destroy();
    });
    return server;
  }

  #ownerOf(socket: TLSSocket): CertificateOwner | undefined {
    try {
      return this.#options.certificateOwner?.(clientConnection(socket, socket));
    } catch (error) {
      // Its requests are refused with the reason.
      this.#options.logger.debug('client certificate could not be verified', { error: error as Error });
      return undefined;
    }
  }

  /** `largeBytesMax`: undefined where no head is large. */
  #forOwner(head: HeadLimits, largeBytesMax: number | undefined): ByOwner {
    const largeHeads =
      largeBytesMax === undefined
        ? undefined
        : new LargeHeads({
            usualBytesMax: headListBytesMax(this.#options.limits),
            bytesMax: largeBytesMax,
            onRefused: () => this.#onLimit('held-heads'),
          });
    return { head, largeHeads, http1: this.#createHttp1(head, largeHeads) };
  }

  #createHttp1(head: HeadLimits, largeHeads: LargeHeads | undefined): Http1Server {
    const { clock, limits } = this.#options;
    return new Http1Server({
      head,
      largeHeads,
      headerTimeoutMs: limits.headerTimeoutMs,
      idleMs: limits.idleMs,
      clock,
      open: this.#open,
      context: (socket) => this.#context(socket),
      onLimit: (limit) => this.#onLimit(limit),
    });
  }

  #createHttp2(by: 'own' | 'node'): Http2Server {
    const { limits, clock, logger } = this.#options;
    const context = (socket: TLSSocket, owner: object) => this.#context(socket, owner);
    const onLimit = (limit: ListenerLimit) => this.#onLimit(limit);
    const parts = { limits, clock, logger, open: this.#open, context, onLimit };
    return by === 'own' ? new HandwrittenHttp2Server(parts) : new NodeHttp2Server(parts);
  }

  #context(socket: TLSSocket, owner: object = socket): AnswerContext {
    const { handler, clock, logger } = this.#options;
    const connection = clientConnection(owner, socket);
    this.#connections.used(socket, connection);
    return { handler, clock, logger, connection, draining: this.#open };
  }
}

/**
 * TCP keep-alive is the only way to detect that the client of a watch without events has lost its
 * network.
 */
const TCP_KEEP_ALIVE_MS = 60_000;

/** Part of `largeHeadBytesMax` for the heads of all users together; the rest is for front proxies. */
const USERS_FRACTION = 1 / 4;

/** Number of progress sweeps within `progressMs`. */
const SWEEPS_PER_PROGRESS_TIME = 4;
