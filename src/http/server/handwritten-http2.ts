import type { TLSSocket } from 'node:tls';
import { Exchange, type Reply } from '../exchange.js';
import { ServerConnection } from '../http2/server-connection.js';
import type { ServerStream } from '../http2/server-stream.js';
import type { Http2Parts, Http2Server } from './http2-server.js';
import type { LargeHeads } from './large-heads.js';
import { type HeadLimits, REPLY_PROGRESS_TIMES } from './listener-limits.js';
import type { OpenExchange } from './open-exchanges.js';
import { type AnswerContext, ReplyWriter, type Wire } from './reply-writer.js';

/**
 * HTTP/2 server on `src/http/http2`, at a fraction of the CPU time per request of `node:http2` (ADR
 * 0006).
 */
export class HandwrittenHttp2Server implements Http2Server {
  readonly #parts: Http2Parts;
  readonly #connections = new Set<ServerConnection>();

  constructor(parts: Http2Parts) {
    this.#parts = parts;
  }

  accept(socket: TLSSocket, head: HeadLimits, largeHeads?: LargeHeads): void {
    const { limits, logger, open } = this.#parts;
    // RFC 9113, 9.2.1; and the client certificate is read only once per connection.
    socket.disableRenegotiation();
    let context: AnswerContext | undefined;
    const connection = new ServerConnection({
      socket,
      largeHeads,
      limits: { ...limits, ...head, streamsMax: limits.streamsPerConnectionMax },
      clock: this.#parts.clock,
      events: {
        request: (stream) => {
          context ??= this.#parts.context(socket, socket);
          open.add(answerHttp2(stream, context));
        },
        headRefused: (by) => this.#parts.onLimit(LIMIT_OF[by]),
        closed: () => this.#connections.delete(connection),
        failed: (error) => logger.debug('HTTP/2 connection failed', { error }),
      },
    });
    this.#connections.add(connection);
    // The TLS handshake was in progress when the shutdown began.
    if (open.draining) connection.drain();
  }

  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }

  endStalled(nowMs: number): void {
    const allowedMs = this.#parts.limits.progressMs * REPLY_PROGRESS_TIMES;
    for (const connection of this.#connections) connection.endIfStalled(nowMs, allowedMs);
  }
}

const LIMIT_OF = { bytes: 'max-header-bytes', fields: 'max-headers-count', sum: 'held-heads' } as const;

function answerHttp2(stream: ServerStream, context: AnswerContext): OpenExchange {
  const { method, target, headers, headBytes, body } = stream;
  const exchange = new Exchange(
    { method, target, headers, headBytes, body, connection: context.connection },
    context.clock.nowMs(),
  );
  const writer = new ReplyWriter(exchange, new Http2Wire(stream), stream.incoming);
  stream.receiver = writer;
  void writer.run(context);
  return writer;
}

class Http2Wire implements Wire {
  readonly #stream: ServerStream;

  constructor(stream: ServerStream) {
    this.#stream = stream;
  }

  head(reply: Reply): void {
    this.#stream.head(reply.status, reply.headers);
  }

  write(chunk: Uint8Array): boolean {
    return this.#stream.write(chunk);
  }

  end(trailers: readonly string[]): void {
    this.#stream.end(trailers);
  }

  complete(reply: Reply, body: Uint8Array | null): void {
    this.#stream.respond(reply.status, reply.headers, body);
  }

  cut(): void {
    this.#stream.reset();
  }

  unsentBytes(): number {
    return this.#stream.waitingBytes;
  }

  cutStalled(): void {
    this.#stream.resetStalled();
  }
}
