import {
  constants,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Http2Server as ServerOfNode,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { Exchange, type Reply } from '../exchange.js';
import { headerValue, type RawHeaders } from '../headers.js';
import type { Http2Parts, Http2Server } from './http2-server.js';
import type { OpenExchange } from './open-exchanges.js';
import { type AnswerContext, ReplyWriter, type Wire } from './reply-writer.js';
import { RequestBody } from './request-body.js';

/** HTTP/2 by Node's own server, on its streams directly instead of through its slower imitation of HTTP/1.1. */
export class NodeHttp2Server implements Http2Server {
  readonly #parts: Http2Parts;
  readonly #server: ServerOfNode;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(parts: Http2Parts) {
    this.#parts = parts;
    this.#server = this.#create();
  }

  accept(socket: TLSSocket): void {
    this.#server.emit('connection', socket);
  }

  drain(): void {
    for (const session of this.#sessions) session.close();
  }

  /** Sessions close by themselves when they are idle, and with their last stalled stream. */
  endStalled(): void {}

  #create(): ServerOfNode {
    const { limits, logger, open } = this.#parts;
    const server = createServer({
      maxHeaderListPairs: limits.headersCountMax,
      settings: {
        maxConcurrentStreams: limits.streamsPerConnectionMax,
        maxHeaderListSize: limits.headerBytesMax,
        // Bodies are read as fast as the server behind takes them; a larger window only hides a slow one.
        initialWindowSize: 256 * 1024,
      },
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      // Its handshake was under way when the shutdown began.
      if (open.draining) session.close();
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', (error) => logger.debug('HTTP/2 connection failed', { error }));
      closeWhenIdle(session, limits.idleMs);
    });
    server.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, rawHeaders: string[]) => {
      const session = stream.session;
      if (!session || refuseLargeHeaders(stream, rawHeaders, limits.headerBytesMax)) return;
      const context = this.#parts.context(session.socket as TLSSocket, session);
      open.add(answerHttp2(stream, rawHeaders, context));
    });
    return server;
  }
}

function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  session.on('stream', (stream) => {
    streams += 1;
    stream.once('close', () => {
      streams -= 1;
    });
  });
  session.setTimeout(idleMs, () => {
    if (streams === 0) session.close();
  });
}

function answerHttp2(stream: ServerHttp2Stream, rawHeaders: string[], context: AnswerContext): OpenExchange {
  const request = readHead(rawHeaders);
  const body = stream.endAfterHeaders ? null : new RequestBody(stream);
  const exchange = new Exchange(
    {
      ...request,
      body,
      connection: context.connection,
    },
    context.clock.nowMs(),
  );
  const writer = new ReplyWriter(exchange, new Http2Wire(stream), body);
  stream.on('drain', () => writer.drained());
  stream.on('error', () => {});
  stream.on('close', () => writer.closed());
  // An answer that did not wait for the whole request: what is still to come would hold the stream open, and its
  // unread bytes would use up what all streams of the connection may send.
  if (exchange.body) {
    stream.once('finish', () => {
      if (!stream.readableEnded && !stream.closed) stream.resume().close(constants.NGHTTP2_NO_ERROR);
    });
  }
  void writer.run(context);
  return writer;
}

/** Node announces its limit on the size of headers to HTTP/2 clients but does not hold them to it. */
function refuseLargeHeaders(stream: ServerHttp2Stream, rawHeaders: readonly string[], bytesMax: number): boolean {
  // RFC 9113, 10.5.1: 32 bytes for each field besides its name and value.
  let bytes = rawHeaders.length * 16;
  for (const part of rawHeaders) bytes += part.length;
  if (bytes <= bytesMax) return false;
  stream.on('error', () => {});
  stream.respond({ ':status': 431 }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
  return true;
}

/** Pseudo-headers become method, target and Host; the rest stays as it came. */
function readHead(rawHeaders: string[]): { method: string; target: string; headers: RawHeaders } {
  const headers: string[] = [];
  const cookies: string[] = [];
  let method = 'GET';
  let target = '';
  let authority: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    if (name === ':method') method = value;
    else if (name === ':path') target = value;
    else if (name === ':authority') authority = value;
    else if (name === 'cookie') cookies.push(value);
    else if (!name.startsWith(':')) headers.push(name, value);
  }
  // RFC 9113, 8.2.3: what was split for compression is one field everywhere else.
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  if (authority !== undefined && headerValue(headers, 'host') === undefined) headers.push('host', authority);
  return { method, target, headers };
}

/**
 * A server is held back when so much of an answer waits for its client. Node.js's own bound is one frame, at which it would
 * be stopped and started again for each.
 */
const UNSENT_BYTES_MAX = 128 * 1024;

class Http2Wire implements Wire {
  #trailers: readonly string[] = [];

  constructor(readonly stream: ServerHttp2Stream) {}

  head(reply: Reply): void {
    if (!this.#writable()) return;
    const headers = http2Headers(reply);
    if ('trailer' in headers) {
      this.stream.once('wantTrailers', () => this.stream.sendTrailers(trailerFields(this.#trailers)));
      this.stream.respond(headers, { waitForTrailers: true });
    } else {
      this.stream.respond(headers);
    }
  }

  write(chunk: Uint8Array): boolean {
    return this.stream.write(chunk) || this.stream.writableLength < UNSENT_BYTES_MAX;
  }

  end(trailers: readonly string[]): void {
    this.#trailers = trailers;
    this.stream.end();
  }

  complete(reply: Reply, body: Uint8Array | null): void {
    if (!this.#writable()) return;
    const empty = body === null || body.byteLength === 0;
    this.stream.respond(http2Headers(reply), { endStream: empty });
    if (!empty) this.stream.end(body);
  }

  cut(): void {
    // Not `close`: that ends the stream properly first, and the client would take what it has for the whole.
    this.stream.destroy(new Error('the answer broke off'));
  }

  unsentBytes(): number {
    return this.stream.writableLength;
  }

  cutStalled(): void {
    const { session } = this.stream;
    this.cut();
    // Ends when its other streams do.
    session?.close();
  }

  #writable(): boolean {
    return !this.stream.destroyed && !this.stream.closed && !this.stream.headersSent;
  }
}

/** Node refuses to send these twice. Web servers behind a pod's `proxy` do repeat some; clients read the first. */
const SINGLE_VALUED: ReadonlySet<string> = new Set([
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'content-encoding', 'content-language'],
  ...['content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date', 'etag', 'expires'],
  ...['last-modified', 'location', 'retry-after', 'tk', 'x-content-type-options'],
]);

/** HTTP/2 forbids the fields that spoke of an HTTP/1.1 connection, and wants lower-case names. */
function http2Headers(reply: Reply): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':status': reply.status };
  for (let i = 0; i < reply.headers.length; i += 2) {
    const name = reply.headers[i]!.toLowerCase();
    if (name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding' || name === 'upgrade') continue;
    const value = reply.headers[i + 1]!;
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (SINGLE_VALUED.has(name)) continue;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [String(before), value];
  }
  return headers;
}

function trailerFields(flat: readonly string[]): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i]!.toLowerCase()] = flat[i + 1]!;
  return fields;
}
