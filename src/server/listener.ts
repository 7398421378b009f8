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
import type { Clock } from '../core/clock.js';
import type { Handler } from '../core/exchange.js';
import type { Logger } from '../observe/logger.js';
import type { ServerTls } from '../transport/connection-tls.js';
import { clientConnection } from './client-connection.js';
import { answerHttp1, answerUpgrade } from './http1.js';
import { OwnHttp2Server } from './http2.js';
import { NodeHttp2Server } from './http2-node.js';
import type { Http2Server } from './http2-server.js';
import type { ListenerLimits } from './listener-limits.js';
import { OpenExchanges } from './open-exchanges.js';
import type { AnswerContext } from './reply-writer.js';

export type { ListenerLimits } from './listener-limits.js';

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
}

/** The TLS listener. One port; HTTP/1.1 or HTTP/2 by ALPN, each connection handed to the server for its protocol. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #tls: TlsServer;
  readonly #http1: Http1Server;
  readonly #http2: Http2Server;
  /** Every connection, by the addresses of its ends: those in the middle of a handshake are nobody else's yet. */
  readonly #connections = new Map<string, Socket>();
  /** Connections that have not asked anything so far. */
  readonly #unused = new Set<string>();
  readonly #open = new OpenExchanges();

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#http1 = this.#createHttp1();
    this.#http2 = this.#createHttp2(options.http2 ?? 'own');
    this.#tls = this.#createTls();
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
      : this.#allClosed();
    this.#open.drain();
    this.#http2.drain();
    this.#http1.closeIdleConnections();
    const cancelCut = this.#options.clock.after(graceMs, () => this.#cut());
    await this.#open.idle();
    // Keep-alive connections that have just answered their last request are idle now.
    this.#http1.closeIdleConnections();
    for (const key of this.#unused) this.#connections.get(key)?.destroy();
    await closed;
    cancelCut();
    this.#http1.close();
  }

  /** Cuts everything at once, in the middle of whatever is being said, and takes nothing new. */
  destroy(): void {
    this.#tls.close();
    for (const connection of this.#connections.values()) connection.destroy();
  }

  /** Node counts only the connections of a port of its own. */
  async #allClosed(): Promise<void> {
    while (this.#connections.size > 0) {
      const [connection] = this.#connections.values();
      await new Promise<void>((resolve) => connection!.once('close', () => resolve()));
    }
  }

  #cut(): void {
    this.#options.logger.warn('requests still open at the end of the shutdown grace period were cut', {
      requests: this.#open.size,
    });
    this.#open.cut();
    // After that, so that HTTP/2 clients are told that their streams broke off.
    setImmediate(() => {
      for (const connection of this.#connections.values()) connection.destroy();
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
    server.maxConnections = limits.connectionsMax;
    server.on('connection', (socket: Socket) => {
      const key = connectionKey(socket);
      this.#connections.set(key, socket);
      this.#unused.add(key);
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      socket.once('close', () => {
        this.#connections.delete(key);
        this.#unused.delete(key);
      });
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.setNoDelay(true);
      if (socket.alpnProtocol === 'h2') {
        this.#unused.delete(connectionKey(socket));
        this.#http2.accept(socket);
      } else this.#http1.emit('connection', socket);
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
    const answers = new WeakMap<Duplex, ServerResponse>();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      answers.set(request.socket, response);
      this.#unused.delete(connectionKey(request.socket));
      if (tooMany(request)) {
        response.writeHead(431, { Connection: 'close' }).end();
        return;
      }
      this.#open.add(answerHttp1(request, response, this.#context(request.socket as TLSSocket)));
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#unused.delete(connectionKey(request.socket));
      if (tooMany(request)) {
        socket.destroy();
        return;
      }
      this.#open.add(answerUpgrade(request, socket, head, this.#context(request.socket as TLSSocket)));
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      const answer = answers.get(socket);
      // A refusal in the middle of another answer would be read as part of it.
      if (answer?.headersSent && !answer.writableFinished) socket.destroy();
      else refuseMalformed(error, socket);
    });
    return server;
  }

  #createHttp2(by: 'own' | 'node'): Http2Server {
    const { limits, clock, logger } = this.#options;
    const context = (socket: TLSSocket, owner: object) => this.#context(socket, owner);
    const parts = { limits, clock, logger, open: this.#open, context };
    return by === 'own' ? new OwnHttp2Server(parts) : new NodeHttp2Server(parts);
  }

  #context(socket: TLSSocket, owner: object = socket): AnswerContext {
    const { handler, clock, logger } = this.#options;
    return { handler, clock, logger, connection: clientConnection(owner, socket), draining: this.#open };
  }
}

/** How often connections are looked at for headers that take too long. */
const HEADER_CHECK_MS = 1_000;

/** Nothing else would tell that the client of a silent watch has lost its network: it would be served for ever. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** Both ends: a client may use one port of its own for several addresses of this server. */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

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

/** Answers what Node's parser refused, as far as the protocol can still be spoken. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const code = tooLarge ? '431 Request Header Fields Too Large' : timedOut ? '408 Request Timeout' : '400 Bad Request';
  const message = tooLarge
    ? 'request headers are too large'
    : timedOut
      ? 'request headers took too long'
      : 'malformed request';
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'BadRequest',
    code: Number(code.slice(0, 3)),
  });
  const head = `HTTP/1.1 ${code}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  // What the client still sends is of no interest.
  socket.end(`${head}Connection: close\r\n\r\n${body}`, () => socket.destroy());
}
