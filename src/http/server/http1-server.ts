import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.js';
import { headListBytes, headListBytesMax } from '../headers.js';
import { answerHttp1, answerUpgrade } from './http1-exchange.js';
import { Http1Pipeline } from './http1-pipeline.js';
import {
  ambiguityOf,
  endWithRefusal,
  isHeadOverflow,
  refuseAsBad,
  refuseMalformed,
  upgradeFaultOf,
} from './http1-refusal.js';
import type { LargeHeads } from './large-heads.js';
import type { HeadLimits, ListenerLimit } from './listener-limits.js';
import type { OpenExchanges } from './open-exchanges.js';
import { OpenHeads } from './open-heads.js';
import type { AnswerContext } from './reply-writer.js';

export interface Http1Parts {
  readonly head: HeadLimits;
  readonly largeHeads: LargeHeads | undefined;
  readonly headerTimeoutMs: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly open: OpenExchanges;
  context(socket: TLSSocket): AnswerContext;
  onLimit(limit: ListenerLimit): void;
}

/** State of one connection. */
interface Client {
  readonly pipeline: Http1Pipeline;
  readonly context: AnswerContext;
  /** Sum of its heads that LargeHeads counts. */
  largeHeadBytes: number;
}

/** HTTP/1.1 server on Node's parser, whose bound on a head is one for all connections of a server. */
export class Http1Server {
  readonly #parts: Http1Parts;
  readonly #server: Server;
  readonly #clients = new WeakMap<Duplex, Client>();
  readonly #openHeads: OpenHeads | undefined;

  constructor(parts: Http1Parts) {
    this.#parts = parts;
    const { head, largeHeads, headerTimeoutMs, clock } = parts;
    if (largeHeads) {
      this.#openHeads = new OpenHeads({ largeHeads, headerBytesMax: head.headerBytesMax, headerTimeoutMs, clock });
    }
    this.#server = this.#create();
    this.#server.on('request', (request, response) => this.#onRequest(request, response));
    this.#server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head));
    this.#server.on('clientError', (error, socket) => this.#onError(error, socket));
  }

  accept(socket: TLSSocket): void {
    this.#openHeads?.add(socket);
    this.#server.emit('connection', socket);
  }

  closeIdleConnections(): void {
    this.#server.closeIdleConnections();
  }

  close(): void {
    this.#server.close();
  }

  #create(): Server {
    const { head, headerTimeoutMs, idleMs } = this.#parts;
    const server = createServer({
      maxHeaderSize: head.headerBytesMax,
      headersTimeout: headerTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: Math.min(HEADER_CHECK_MS, headerTimeoutMs),
      // Lenient parsing is how requests get smuggled.
      insecureHTTPParser: false,
      // `ambiguityOf` requires it: Node may have dropped it among too many fields, which is another refusal.
      requireHostHeader: false,
    });
    // Node drops the fields above its own limit and would serve the request without them. One more is kept, so that `#hasTooMany`
    // sees them; the others would take memory even before the head is complete. Node.js 26 refuses such a head itself.
    server.maxHeadersCount = head.headersCountMax + 1;
    // Node starts to track connections (header timeout, idle) on 'listening'. This server never
    // listens: its connections come from the TLS server.
    server.emit('listening');
    return server;
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed) return;
    this.#openHeads?.completed(request);
    const client = this.#clientOf(request.socket as TLSSocket);
    const { pipeline } = client;
    const headBytes = headBytesOf(request);
    const refusal = this.#refusalOf(request, headBytes, client);
    const begin = (): void => {
      const fault = ambiguityOf(request);
      if (refusal !== undefined) response.writeHead(refusal, REFUSAL_FIELDS[refusal]).end();
      else if (fault !== undefined) refuseAsBad(response, fault);
      else this.#parts.open.add(answerHttp1({ request, headBytes }, response, client.context));
    };
    // A refused request does not wait for its refusal: its head would be in memory.
    if (refusal !== undefined && pipeline.isBusy) request.socket.destroy();
    else if (!pipeline.add({ request, response, headBytes, begin })) {
      this.#parts.onLimit('pipelined-requests');
      request.socket.destroy();
    } else if (refusal === undefined) this.#giveBackAfter(response, headBytes, client);
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const client = this.#clientOf(request.socket as TLSSocket);
    this.#openHeads?.release(request.socket as TLSSocket);
    const headBytes = headBytesOf(request);
    const fault = ambiguityOf(request) ?? upgradeFaultOf(request);
    // An error reply inside another reply would be read as part of it. The head is counted until the connection closes.
    if (client.pipeline.isBusy || this.#refusalOf(request, headBytes, client) !== undefined) socket.destroy();
    else if (fault !== undefined) endWithRefusal(socket, '400 Bad Request', fault);
    else this.#parts.open.add(answerUpgrade({ request, headBytes }, socket, head, client.context));
  }

  /** Returns the status that refuses a head, or counts the head if it is large. */
  #refusalOf(request: IncomingMessage, headBytes: number, client: Client): 429 | 431 | undefined {
    if (this.#hasTooMany(request)) return 431;
    const { largeHeads } = this.#parts;
    if (!largeHeads?.isLarge(headBytes)) return undefined;
    if (!largeHeads.take(headBytes)) return 429;
    client.largeHeadBytes += headBytes;
    return undefined;
  }

  /** Stops counting a large head when its reply has been sent. A connection that closes stops counting all of its own. */
  #giveBackAfter(response: ServerResponse, headBytes: number, client: Client): void {
    const { largeHeads } = this.#parts;
    if (!largeHeads?.isLarge(headBytes)) return;
    response.once('close', () => {
      if (client.largeHeadBytes === 0) return;
      client.largeHeadBytes -= headBytes;
      largeHeads.giveBack(headBytes);
    });
  }

  #onError(error: NodeJS.ErrnoException, socket: Duplex): void {
    // The rest of a refused head fails too, when the refusal has been sent. Node.js 26 has the same error for too many fields.
    if (isHeadOverflow(error) && socket.writable) this.#parts.onLimit('max-header-bytes');
    if (this.#clients.get(socket)?.pipeline.canRefuse ?? true) refuseMalformed(error, socket);
    else socket.destroy();
  }

  #hasTooMany({ rawHeaders }: IncomingMessage): boolean {
    if (rawHeaders.length <= 2 * this.#parts.head.headersCountMax) return false;
    this.#parts.onLimit('max-headers-count');
    return true;
  }

  #clientOf(socket: TLSSocket): Client {
    const known = this.#clients.get(socket);
    if (known) return known;
    const { clock, head, largeHeads } = this.#parts;
    const pipeline = new Http1Pipeline(socket, clock, headListBytesMax(head));
    const client: Client = { pipeline, context: this.#parts.context(socket), largeHeadBytes: 0 };
    this.#clients.set(socket, client);
    if (largeHeads) {
      socket.once('close', () => {
        largeHeads.giveBack(client.largeHeadBytes);
        client.largeHeadBytes = 0;
      });
    }
    return client;
  }
}

function headBytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  return url.length + headListBytes(rawHeaders);
}

const REFUSAL_FIELDS = { 429: { Connection: 'close', 'Retry-After': '1' }, 431: { Connection: 'close' } };

/** Interval of the check for header timeouts. */
const HEADER_CHECK_MS = 1_000;
