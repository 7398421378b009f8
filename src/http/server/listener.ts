import { constants } from 'node:crypto';
import {
  createServer as createHttp1,
  type Server as Http1Server,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Handler } from '../exchange.js';
import type { ServerTls } from '../tls/connection-tls.js';
import { clientConnection } from './client-connection.js';
import { ConnectionTable } from './connection-table.js';
import { OwnHttp2Server } from './handwritten-http2.js';
import { answerHttp1, answerUpgrade } from './http1-exchange.js';
import { Http1Pipeline } from './http1-pipeline.js';
import { ambiguityOf, endWithRefusal, refuseAsBad, refuseMalformed, upgradeFaultOf } from './http1-refusal.js';
import type { Http2Server } from './http2-server.js';
import type { ListenerLimit, ListenerLimits } from './listener-limits.js';
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
  /** Whose HTTP/2 is spoken: that of `src/http2`, unless told otherwise, or Node's. */
  readonly http2?: 'own' | 'node';
  /** Called each time a limit ends a connection or a request, for a metric. */
  readonly onLimit?: (limit: ListenerLimit) => void;
}

/** The TLS listener. One port; HTTP/1.1 or HTTP/2 by ALPN, each connection handed to the server for its protocol. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #tls: TlsServer;
  readonly #http1: Http1Server;
  readonly #http2: Http2Server;
  readonly #connections: ConnectionTable;
  readonly #pipelines = new WeakMap<Duplex, Http1Pipeline>();
  readonly #open = new OpenExchanges();
  #cancelSweep: () => void = () => {};

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connections = new ConnectionTable(options.limits, (limit) => this.#onLimit(limit));
    this.#http1 = this.#createHttp1();
    this.#http2 = this.#createHttp2(options.http2 ?? 'own');
    this.#tls = this.#createTls();
    this.#sweepLater();
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  async listen(): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#tls.once('error', reject);
      this.#tls.listen(this.#options.port, this.#options.host, () => {
        this.#tls.off('error', reject);
        resolve();
      });
    });
    return this.#tls.address() as AddressInfo;
  }

  /** Serves a connection that was accepted elsewhere, of which nothing was read yet. */
  take(socket: Socket): void {
    if (this.#open.draining) socket.destroy();
    else this.#tls.emit('connection', socket);
  }

  /** New connections use the new certificates; those that are open go on. */
  replaceTls(tls: ServerTls): void {
    this.#tls.setSecureContext(secureContext(tls));
  }

  /**
   * Takes no new connections and no new requests, lets those under way end, ends watches at an event's boundary.
   * What is left after `graceMs` is cut. Resolves when the last connection is closed.
   */
  async close(graceMs: number): Promise<void> {
    const closed = this.#tls.listening
      ? new Promise<void>((resolve) => this.#tls.close(() => resolve()))
      : this.#connections.allClosed();
    this.#open.drain();
    this.#http2.drain();
    this.#http1.closeIdleConnections();
    const cancelCut = this.#options.clock.after(graceMs, () => this.#cut());
    await this.#open.idle();
    // Keep-alive connections that have just answered their last request are idle now.
    this.#http1.closeIdleConnections();
    this.#connections.destroyUnused();
    await closed;
    cancelCut();
    this.#cancelSweep();
    this.#http1.close();
  }

  /** Cuts everything at once, in the middle of whatever is being said, and takes nothing new. */
  destroy(): void {
    this.#tls.close();
    this.#cancelSweep();
    this.#connections.destroyAll();
  }

  /** Ends requests, and HTTP/2 connections, whose clients have made no progress for too long. */
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
    this.#options.logger.warn('requests still open at the end of the shutdown grace period were cut', {
      requests: this.#open.size,
    });
    this.#open.cut();
    // After that, so that HTTP/2 clients are told that their streams broke off.
    setImmediate(() => {
      this.#connections.destroyAll();
    });
  }

  #createTls(): TlsServer {
    const { tls, limits, logger } = this.#options;
    const server = createTls({
      ...secureContext(tls),
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      // A certificate that does not verify is refused per request with a Status that says why.
      rejectUnauthorized: false,
      handshakeTimeout: limits.headerTimeoutMs,
    });
    server.on('connection', (socket: Socket) => {
      if (this.#connections.admit(socket)) socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      else socket.destroy();
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      if (socket.alpnProtocol === 'h2') this.#http2.accept(socket);
      else this.#http1.emit('connection', socket);
    });
    server.on('tlsClientError', (error, socket) => {
      logger.debug('TLS handshake failed', { error });
      // Node reports a handshake that takes too long and leaves it at that.
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
    // Node would leave out what is above its own limit and serve the rest: a field that limits a request could go missing.
    server.maxHeadersCount = 0;
    const tooMany = ({ rawHeaders }: IncomingMessage) => rawHeaders.length > 2 * limits.headersCountMax;
    // Node begins to keep track of connections (header time, which are idle) when a server listens. This one never
    // does, its connections come from the TLS server, so it is told.
    server.emit('listening');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const context = this.#context(request.socket as TLSSocket);
      const begin = (): void => {
        const fault = ambiguityOf(request);
        if (tooMany(request)) response.writeHead(431, { Connection: 'close' }).end();
        else if (fault !== undefined) refuseAsBad(response, fault);
        else this.#open.add(answerHttp1(request, response, context));
      };
      if (this.#pipelineOf(request.socket).add(request, response, begin)) return;
      this.#onLimit('pipelined-requests');
      request.socket.destroy();
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const context = this.#context(request.socket as TLSSocket);
      const fault = ambiguityOf(request) ?? upgradeFaultOf(request);
      // A refusal in the middle of another answer would be read as part of it.
      if (tooMany(request) || this.#pipelineOf(socket).isBusy) socket.destroy();
      else if (fault !== undefined) endWithRefusal(socket, '400 Bad Request', fault);
      else this.#open.add(answerUpgrade(request, socket, head, context));
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (this.#pipelines.get(socket)?.canRefuse ?? true) refuseMalformed(error, socket);
      else socket.destroy();
    });
    return server;
  }

  #pipelineOf(socket: Duplex): Http1Pipeline {
    let pipeline = this.#pipelines.get(socket);
    if (!pipeline) {
      const { clock, limits } = this.#options;
      pipeline = new Http1Pipeline(socket, clock, limits.headerBytesMax);
      this.#pipelines.set(socket, pipeline);
    }
    return pipeline;
  }

  #createHttp2(by: 'own' | 'node'): Http2Server {
    const { limits, clock, logger } = this.#options;
    const context = (socket: TLSSocket, owner: object) => this.#context(socket, owner);
    const parts = { limits, clock, logger, open: this.#open, context };
    return by === 'own' ? new OwnHttp2Server(parts) : new NodeHttp2Server(parts);
  }

  #context(socket: TLSSocket, owner: object = socket): AnswerContext {
    const { handler, clock, logger } = this.#options;
    const connection = clientConnection(owner, socket);
    this.#connections.used(socket, connection);
    return { handler, clock, logger, connection, draining: this.#open };
  }
}

/** How often connections are looked at for headers that take too long. */
const HEADER_CHECK_MS = 1_000;

/** Nothing else would tell that the client of a silent watch has lost its network: it would be served for ever. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** How often in the time for progress it is looked at who makes none. */
const SWEEPS_PER_PROGRESS_TIME = 4;

function secureContext(tls: ServerTls) {
  return {
    cert: tls.cert,
    key: tls.key,
    ca: [...tls.clientCas],
    minVersion: 'TLSv1.2' as const,
    // A resumed session carries no intermediate certificates and would outlive a change of the CA files.
    // Renegotiation (TLS 1.2) would repeat the costly part of a handshake, and change certificates, within a connection.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}
