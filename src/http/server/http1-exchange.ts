import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Exchange, type Reply } from '../exchange.js';
import { headerValue, type RawHeaders } from '../headers.js';
import type { OpenExchange } from './open-exchanges.js';
import { type AnswerContext, ReplyWriter, type Wire } from './reply-writer.js';
import { RequestBody } from './request-body.js';

/** Request with the size of its head, counted as by `headListBytes`. */
export interface Http1Request {
  readonly request: IncomingMessage;
  readonly headBytes: number;
}

export function answerHttp1(
  { request, headBytes }: Http1Request,
  response: ServerResponse,
  context: AnswerContext,
): OpenExchange {
  const body = hasBody(request.rawHeaders) ? new RequestBody(request) : null;
  const exchange = new Exchange(
    {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.rawHeaders,
      headBytes,
      body,
      connection: context.connection,
    },
    context.clock.nowMs(),
  );
  const writer = new ReplyWriter(exchange, new Http1Wire(response, context), body);
  response.on('drain', () => writer.drained());
  response.on('close', () => writer.closed());
  void writer.run(context);
  return writer;
}

/**
 * Runs an upgrade request. The chain returns the server's upgraded connection, which is joined to
 * the client's, or an ordinary reply, which is written as such.
 */
export function answerUpgrade(
  { request, headBytes }: Http1Request,
  socket: Duplex,
  head: Buffer,
  context: AnswerContext,
): OpenExchange {
  const exchange = new Exchange(
    {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.rawHeaders,
      headBytes,
      body: null,
      connection: context.connection,
      upgrade: true,
    },
    context.clock.nowMs(),
  );
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  const wire = new Http1Wire(response, context);
  const upgradeWire: Wire = {
    ...wireMethods(wire),
    complete(reply, body) {
      if (reply.upgraded) joinConnections({ client: socket, head, request }, reply);
      else ordinary(response, socket, () => wire.complete(reply, body));
    },
    head: (reply) => ordinary(response, socket, () => wire.head(reply)),
    cut: () => socket.destroy(),
    cutStalled: () => socket.destroy(),
  };
  const writer = new ReplyWriter(exchange, upgradeWire, null);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => writer.closed());
  response.on('drain', () => writer.drained());
  response.on('finish', () => {
    // A client that never closes its side would hold its connection and its share of the limits.
    socket.resume();
    socket.end(() => socket.destroy());
  });
  void writer.run(context);
  return writer;
}

/**
 * Size of the writes of a large body, and so the least that a client must read for progress to be
 * seen.
 */
const PIECE_BYTES = 128 * 1024;

class Http1Wire implements Wire {
  /** Bytes of a large body that are not written yet. */
  #laterBytes = 0;

  constructor(
    readonly response: ServerResponse,
    readonly context: AnswerContext,
  ) {}

  head(reply: Reply): void {
    this.response.writeHead(reply.status, this.#headers(reply.headers));
    // A watch may send no event for minutes after its head.
    this.response.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    return this.response.write(chunk);
  }

  end(trailers: readonly string[]): void {
    if (trailers.length > 0) this.response.addTrailers(pairs(trailers));
    this.response.end();
  }

  complete(reply: Reply, body: Uint8Array | null): void {
    this.response.writeHead(reply.status, this.#headers(reply.headers));
    if (body && body.byteLength > PIECE_BYTES) this.#sendInPieces(body);
    else if (body) this.response.end(body);
    else this.response.end();
  }

  cut(): void {
    this.response.destroy();
  }

  unsentBytes(): number {
    return this.#laterBytes + this.response.writableLength;
  }

  cutStalled(): void {
    this.response.destroy();
  }

  /**
   * Writes a body in pieces: the socket reports only whole writes as sent, so one write would hide
   * the progress.
   */
  #sendInPieces(body: Uint8Array): void {
    this.#laterBytes = body.byteLength;
    const sendMore = (): void => {
      while (this.#laterBytes > PIECE_BYTES) {
        const from = body.byteLength - this.#laterBytes;
        this.#laterBytes -= PIECE_BYTES;
        if (this.response.write(body.subarray(from, from + PIECE_BYTES))) continue;
        this.response.once('drain', sendMore);
        return;
      }
      const last = body.subarray(body.byteLength - this.#laterBytes);
      this.#laterBytes = 0;
      this.response.end(last);
    };
    sendMore();
  }

  #headers(headers: RawHeaders): string[] {
    // While draining the client must not reuse this connection.
    return this.context.draining.draining ? [...headers, 'Connection', 'close'] : (headers as string[]);
  }
}

function wireMethods(wire: Wire): Wire {
  return {
    head: (reply) => wire.head(reply),
    write: (chunk) => wire.write(chunk),
    end: (trailers) => wire.end(trailers),
    complete: (reply, body) => wire.complete(reply, body),
    cut: () => wire.cut(),
    unsentBytes: () => wire.unsentBytes(),
    cutStalled: () => wire.cutStalled(),
  };
}

/**
 * Writes an ordinary reply to an upgrade request that the server declined; the connection is closed
 * after it.
 */
function ordinary(response: ServerResponse, socket: Duplex, write: () => void): void {
  if (!response.socket) response.assignSocket(socket as never);
  write();
}

function joinConnections(from: { client: Duplex; head: Buffer; request: IncomingMessage }, reply: Reply): void {
  const { client, head } = from;
  const { socket: server, head: serverHead } = reply.upgraded!;
  let lines = `HTTP/1.1 ${reply.status} Switching Protocols\r\n`;
  for (let i = 0; i < reply.headers.length; i += 2) lines += `${reply.headers[i]}: ${reply.headers[i + 1]}\r\n`;
  client.write(Buffer.from(`${lines}\r\n`, 'latin1'));
  if (serverHead.byteLength > 0) client.write(serverHead);
  if (head.byteLength > 0) server.write(head);
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
  client.on('close', () => server.destroy());
  server.on('close', () => {
    client.end();
    // Later bytes of the client are read and dropped, otherwise its end would never be seen.
    client.resume();
  });
  client.pipe(server);
  server.pipe(client);
}

function hasBody(headers: RawHeaders): boolean {
  const length = headerValue(headers, 'content-length');
  if (length !== undefined) return length !== '0';
  return headerValue(headers, 'transfer-encoding') !== undefined;
}

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) list.push([flat[i]!, flat[i + 1]!]);
  return list;
}
