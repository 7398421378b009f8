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
import { headerValue, headListBytes, type RawHeaders } from '../headers.js';
import type { Http2Parts, Http2Server } from './http2-server.js';
import type { LargeHeads } from './large-heads.js';
import type { HeadLimits } from './listener-limits.js';
import type { OpenExchange } from './open-exchanges.js';
import { type AnswerContext, ReplyWriter, type Wire } from './reply-writer.js';
import { RequestBody } from './request-body.js';

/** HTTP/2 server on `node:http2` streams, without its slower HTTP/1.1 compatibility API. */
export class NodeHttp2Server implements Http2Server {
  readonly #parts: Http2Parts;
  /** One for each kind of connection: Node.js has bounds for a server, not for a connection. A pair of them belongs to the key. */
  readonly #servers = new Map<LargeHeads | undefined, ServerOfNode>();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(parts: Http2Parts) {
    this.#parts = parts;
  }

  accept(socket: TLSSocket, head: HeadLimits, largeHeads?: LargeHeads): void {
    const server = this.#servers.get(largeHeads) ?? this.#create(head, largeHeads);
    this.#servers.set(largeHeads, server);
    server.emit('connection', socket);
  }

  drain(): void {
    for (const session of this.#sessions) session.close();
  }

  /**
   * No-op: `closeWhenIdle` closes idle sessions, and `cutStalled` the session of a stalled stream.
   */
  endStalled(): void {}

  #create(head: HeadLimits, largeHeads: LargeHeads | undefined): ServerOfNode {
    const { limits, logger, open } = this.#parts;
    const server = createServer({
      maxHeaderListPairs: head.headersCountMax,
      settings: {
        maxConcurrentStreams: limits.streamsPerConnectionMax,
        maxHeaderListSize: head.headerBytesMax,
        // Bodies are read as fast as the upstream server accepts them; a larger window would only
        // buffer more.
        initialWindowSize: 256 * 1024,
      },
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      // The TLS handshake was in progress when the shutdown began.
      if (open.draining) session.close();
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', (error) => logger.debug('HTTP/2 connection failed', { error }));
      closeWhenIdle(session, limits.idleMs);
    });
    server.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, rawHeaders: string[]) => {
      const session = stream.session;
      if (!session) return;
      const headBytes = headListBytes(rawHeaders);
      if (headBytes > head.headerBytesMax) {
        this.#parts.onLimit('max-header-bytes');
        refuseLarge(stream);
        return;
      }
      if (largeHeads && !holdHead(stream, headBytes, largeHeads)) return;
      const context = this.#parts.context(session.socket as TLSSocket, session);
      open.add(answerHttp2(stream, { ...readHead(rawHeaders), headBytes }, context));
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

function answerHttp2(
  stream: ServerHttp2Stream,
  request: { method: string; target: string; headers: RawHeaders; headBytes: number },
  context: AnswerContext,
): OpenExchange {
  const body = stream.endAfterHeaders ? null : new RequestBody(stream, () => askForBody(stream, request.headers));
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
  // A reply before the end of the request: the rest of the body would keep the stream open, and its
  // unread bytes would use up the flow-control window of the connection.
  if (exchange.body) {
    stream.once('finish', () => {
      if (!stream.readableEnded && !stream.closed) stream.resume().close(constants.NGHTTP2_NO_ERROR);
    });
  }
  void writer.run(context);
  return writer;
}

/** RFC 9110, 10.1.1: the client may hold the body back until it is asked for it. */
function askForBody(stream: ServerHttp2Stream, headers: RawHeaders): void {
  const isHeldBack = headerValue(headers, 'expect')?.toLowerCase() === '100-continue';
  if (isHeldBack && !stream.headersSent && !stream.destroyed) stream.additionalHeaders({ ':status': 100 });
}

/**
 * Refuses a head above `headerBytesMax` until the client has acknowledged SETTINGS_MAX_HEADER_LIST_SIZE. After that Node.js resets
 * such a stream with ENHANCE_YOUR_CALM before it is seen here.
 */
function refuseLarge(stream: ServerHttp2Stream): void {
  stream.on('error', () => {});
  stream.respond({ ':status': 431 }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Counts a head until its stream is closed; resets the stream and returns false if there is no room for it. */
function holdHead(stream: ServerHttp2Stream, headBytes: number, largeHeads: LargeHeads): boolean {
  if (!largeHeads.isLarge(headBytes)) return true;
  if (largeHeads.take(headBytes)) {
    stream.once('close', () => largeHeads.giveBack(headBytes));
    return true;
  }
  stream.on('error', () => {});
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  return false;
}

/**
 * Converts pseudo-headers to method, target and Host; joins cookies; keeps all other fields
 * unchanged.
 */
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
  // RFC 9113, 8.2.3: cookie fields split for compression are joined into one for HTTP/1.1.
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  if (authority !== undefined && headerValue(headers, 'host') === undefined) headers.push('host', authority);
  return { method, target, headers };
}

/**
 * Back-pressure starts when this many bytes of a reply are unsent. Node's own high-water mark is
 * one frame, which would pause and resume the source for each.
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
    // Not `close`, which ends the stream normally: the client would take a partial body for a
    // complete one.
    this.stream.destroy(new Error('reply ended early (unexpected EOF)'));
  }

  unsentBytes(): number {
    return this.stream.writableLength;
  }

  cutStalled(): void {
    const { session } = this.stream;
    this.cut();
    // Closes the session after its other streams have ended.
    session?.close();
  }

  #writable(): boolean {
    return !this.stream.destroyed && !this.stream.closed && !this.stream.headersSent;
  }
}

/**
 * Single-valued fields, which Node refuses to send twice. Web servers behind a pod's `proxy` repeat
 * some; the first is sent.
 */
const SINGLE_VALUED: ReadonlySet<string> = new Set([
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'content-encoding', 'content-language'],
  ...['content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date', 'etag', 'expires'],
  ...['last-modified', 'location', 'retry-after', 'tk', 'x-content-type-options'],
]);

/**
 * Converts headers to Node's form: lower-case names, without connection-specific fields, which
 * HTTP/2 forbids.
 */
function http2Headers(reply: Reply): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':status': reply.status };
  for (let i = 0; i < reply.headers.length; i += 2) {
    const name = reply.headers[i]!.toLowerCase();
    if (name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding' || name === 'upgrade') continue;
    // Go's client reports a body that is missing after it.
    if (name === 'content-length' && (reply.status === 204 || reply.status === 304)) continue;
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
