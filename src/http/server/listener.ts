import {
  createServer as createHttp1,
  type Server as Http1Server,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Handler } from '../exchange.js';
import { type ServerTls, serverTlsOptions } from '../tls/connection-tls.js';
import { clientConnection } from './client-connection.js';
import { ConnectionTable } from './connection-table.js';
import { HandshakeQueue } from './handshake-queue.js';
import { HandwrittenHttp2Server } from './handwritten-http2.js';
import { answerHttp1, answerUpgrade } from './http1-exchange.js';
import { Http1Pipeline } from './http1-pipeline.js';
import { ambiguityOf, endWithRefusal, refuseAsBad, refuseMalformed, upgradeFaultOf } from './http1-refusal.js';
import type { Http2Server } from './http2-server.js';
import {
  CONNECTIONS_WAITING_MAX,
  HANDSHAKE_WAIT_MS_MAX,
  type ListenerLimit,
  type ListenerLimits,
} from './listener-limits.js';
import { NodeHttp2Server } from './node-http2.js';
import { OpenExchanges } from './open-exchanges.js';
import type { AnswerContext } from './reply-writer.js';

export type { ListenerLimit, ListenerLimits } from './listener-limits.js';

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
  /** Called for each connection or request that a limit ends; for a metric. */
  readonly onLimit?: (limit: ListenerLimit) => void;
}

/** State of one HTTP/1.1 connection. */
interface Http1Client {
  readonly pipeline: Http1Pipeline;
  readonly context: AnswerContext;
}

/** TLS listener on one port. ALPN selects HTTP/1.1 or HTTP/2 for each connection. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #tcp: TcpServer;
  readonly #tls: TlsServer;
  readonly #http1: Http1Server;
  readonly #http2: Http2Server;
  readonly #connections: ConnectionTable;
  readonly #handshakes: HandshakeQueue;
  readonly #http1Clients = new WeakMap<Duplex, Http1Client>();
  readonly #open = new OpenExchanges();
  #cancelSweep: () => void = () => {};

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connections = new ConnectionTable(options.limits, options.clock, (limit) => this.#onLimit(limit));
    this.#handshakes = this.#createHandshakeQueue();
    this.#http1 = this.#createHttp1();
    this.#http2 = this.#createHttp2(options.http2 ?? 'own');
    this.#tls = this.#createTls();
    // No byte is read from a connection before its TLS handshake.
    this.#tcp = createTcp({ pauseOnConnect: true }, (socket) => this.#handshakes.enter(socket));
    this.#sweepLater();
  }

  get connectionCount(): number {
    return this.#connections.size + this.#handshakes.size;
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
    this.#http1.closeIdleConnections();
    const cancelCut = this.#options.clock.after(graceMs, () => this.#cut());
    await this.#open.idle();
    // Keep-alive connections that have just sent their last reply are idle now.
    this.#http1.closeIdleConnections();
    this.#connections.destroyUnused();
    await this.#connections.allClosed();
    cancelCut();
    this.#cancelSweep();
    this.#http1.close();
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
      if (socket.alpnProtocol === 'h2') this.#http2.accept(socket);
      else this.#http1.emit('connection', socket);
    });
    server.on('tlsClientError', (error, socket) => {
      logger.debug('TLS handshake failed', { error });
      // Node reports a handshake timeout but does not close the socket.
      socket.destroy();
    });
    return server;
  }

  #createHttp1(): Http1Server {
    const { limits } = this.#options;
    const server = createHttp1({
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headerTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(HEADER_CHECK_MS, limits.headerTimeoutMs),
      // Lenient parsing is how requests get smuggled.
      insecureHTTPParser: false,
      requireHostHeader: true,
    });
    // Node would drop the fields above its own limit and serve the request without them.
    server.maxHeadersCount = 0;
    const tooMany = ({ rawHeaders }: IncomingMessage) => rawHeaders.length > 2 * limits.headersCountMax;
    // Node starts to track connections (header timeout, idle) on 'listening'. This server never
    // listens: its connections come from the TLS server.
    server.emit('listening');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { pipeline, context } = this.#http1ClientOf(request.socket as TLSSocket);
      const begin = (): void => {
        const fault = ambiguityOf(request);
        if (tooMany(request)) response.writeHead(431, { Connection: 'close' }).end();
        else if (fault !== undefined) refuseAsBad(response, fault);
        else this.#open.add(answerHttp1(request, response, context));
      };
      if (pipeline.add(request, response, begin)) return;
      this.#onLimit('pipelined-requests');
      request.socket.destroy();
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const { pipeline, context } = this.#http1ClientOf(request.socket as TLSSocket);
      const fault = ambiguityOf(request) ?? upgradeFaultOf(request);
      // An error reply inside another reply would be read as part of it.
      if (tooMany(request) || pipeline.isBusy) socket.destroy();
      else if (fault !== undefined) endWithRefusal(socket, '400 Bad Request', fault);
      else this.#open.add(answerUpgrade(request, socket, head, context));
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (this.#http1Clients.get(socket)?.pipeline.canRefuse ?? true) refuseMalformed(error, socket);
      else socket.destroy();
    });
    return server;
  }

  #http1ClientOf(socket: TLSSocket): Http1Client {
    const known = this.#http1Clients.get(socket);
    if (known) return known;
    const { clock, limits } = this.#options;
    const pipeline = new Http1Pipeline(socket, clock, limits.headerBytesMax);
    const client: Http1Client = { pipeline, context: this.#context(socket) };
    this.#http1Clients.set(socket, client);
    return client;
  }

  #createHttp2(by: 'own' | 'node'): Http2Server {
    const { limits, clock, logger } = this.#options;
    const context = (socket: TLSSocket, owner: object) => this.#context(socket, owner);
    const parts = { limits, clock, logger, open: this.#open, context };
    return by === 'own' ? new HandwrittenHttp2Server(parts) : new NodeHttp2Server(parts);
  }

  #context(socket: TLSSocket, owner: object = socket): AnswerContext {
    const { handler, clock, logger } = this.#options;
    const connection = clientConnection(owner, socket);
    this.#connections.used(socket, connection);
    return { handler, clock, logger, connection, draining: this.#open };
  }
}

/** Interval of the check for header timeouts. */
const HEADER_CHECK_MS = 1_000;

/**
 * TCP keep-alive is the only way to detect that the client of a watch without events has lost its
 * network.
 */
const TCP_KEEP_ALIVE_MS = 60_000;

/** Number of progress sweeps within `progressMs`. */
const SWEEPS_PER_PROGRESS_TIME = 4;
