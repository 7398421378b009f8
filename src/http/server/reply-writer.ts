import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { BodySink, BodyStream } from '../body-stream.js';
import { discard } from '../discard.js';
import type { ClientConnection, Exchange, Handler, Reply } from '../exchange.js';
import { headerValue } from '../headers.js';
import { PROGRESS_BYTES_MIN, REPLY_PROGRESS_TIMES } from './listener-limits.js';
import type { OpenExchange, OpenExchanges } from './open-exchanges.js';

export interface AnswerContext {
  readonly handler: Handler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly connection: ClientConnection;
  readonly draining: OpenExchanges;
}

/** Writes a reply in one protocol. */
export interface Wire {
  head(reply: Reply): void;
  write(chunk: Uint8Array): boolean;
  end(trailers: readonly string[]): void;
  /** Writes a whole reply at once. */
  complete(reply: Reply, body: Uint8Array | null): void;
  /** Aborts the reply so that the client sees an incomplete body (reset or unexpected EOF). */
  cut(): void;
  /** Returns the bytes of this reply that were not sent yet. */
  unsentBytes(): number;
  /**
   * Aborts the reply because the client makes no progress, and closes the connection unless other
   * requests use it.
   */
  cutStalled(): void;
}

/** Progress of a request body, for `endIfStalled`. */
export interface ClientBody {
  readonly receivedBytes: number;
  /** True while a reader waits for bytes that the client has not sent. */
  readonly waitsForClient: boolean;
}

const NEWLINE = 10;

/** Runs one exchange through the chain and writes its reply. */
export class ReplyWriter implements OpenExchange, BodySink {
  list: OpenExchanges | undefined;
  before: OpenExchange | undefined;
  after: OpenExchange | undefined;
  readonly #exchange: Exchange;
  readonly #wire: Wire;
  readonly #requestBody: ClientBody | null;
  #body: BodyStream | undefined;
  #framed = false;
  #atBoundary = true;
  #ending = false;
  #over = false;
  #done = false;
  #writtenBytes = 0;
  /**
   * Bytes sent and read by the client when it last made progress, or when nothing waited for it;
   * and that time.
   */
  #progressBytes = 0;
  #progressAtMs = -1;

  constructor(exchange: Exchange, wire: Wire, requestBody: ClientBody | null) {
    this.#exchange = exchange;
    this.#wire = wire;
    this.#requestBody = requestBody;
  }

  get isDone(): boolean {
    return this.#done;
  }

  async run(context: AnswerContext): Promise<void> {
    let reply: Reply;
    try {
      reply = await context.handler(this.#exchange);
    } catch (error) {
      // The errors filter turns every failure below it into a reply: an exception here is a bug in
      // the chain.
      context.logger.error('request failed without a reply', { error, target: this.#exchange.target });
      this.#wire.cut();
      return;
    }
    try {
      this.#write(reply);
    } catch (error) {
      // A reply of an HTTP/1.1 server may be invalid in HTTP/2.
      context.logger.error('reply could not be written', { error, target: this.#exchange.target });
      this.#abandon(reply);
    }
  }

  /** Called when the connection's write buffer has drained. */
  drained(): void {
    this.#body?.resume();
  }

  /** Called when the reply is complete or the connection closed. */
  closed(): void {
    if (!this.#over) {
      this.#over = true;
      this.#body?.cancel(new Error('the client left'));
      this.#exchange.abort();
    }
    this.#done = true;
    this.list?.remove(this);
    this.#exchange.end();
  }

  endWhenClean(): void {
    if (this.#exchange.info.verb !== 'watch') return;
    this.#ending = true;
    if (this.#body && this.#atBoundary) this.#endWatch();
  }

  cut(): void {
    this.#wire.cut();
  }

  endIfStalled(nowMs: number, progressMs: number): boolean {
    const unsentBytes = this.#wire.unsentBytes();
    const isWaitedFor = unsentBytes > 0 || (this.#requestBody?.waitsForClient ?? false);
    const movedBytes = this.#writtenBytes - unsentBytes + (this.#requestBody?.receivedBytes ?? 0);
    if (!isWaitedFor || this.#progressAtMs < 0 || movedBytes - this.#progressBytes >= PROGRESS_BYTES_MIN) {
      this.#progressBytes = movedBytes;
      this.#progressAtMs = nowMs;
      return false;
    }
    const allowedMs = unsentBytes > 0 ? progressMs * REPLY_PROGRESS_TIMES : progressMs;
    if (nowMs - this.#progressAtMs < allowedMs) return false;
    this.#wire.cutStalled();
    return true;
  }

  write(chunk: Uint8Array): boolean {
    this.#writtenBytes += chunk.byteLength;
    const more = this.#wire.write(chunk);
    if (this.#framed) {
      this.#atBoundary = chunk[chunk.byteLength - 1] === NEWLINE;
      if (this.#ending && this.#atBoundary) this.#endWatch();
    }
    return more;
  }

  end(trailers: readonly string[]): void {
    this.#over = true;
    this.#wire.end(trailers);
  }

  fail(): void {
    this.#over = true;
    this.#wire.cut();
  }

  #write(reply: Reply): void {
    if (this.#over || this.#exchange.aborted) {
      discard(reply, new Error('the client left'));
      return;
    }
    const { body } = reply;
    if (body === null || body instanceof Uint8Array) {
      this.#complete(reply, body);
      return;
    }
    const whole = body.takeWhole();
    if (whole) {
      this.#complete(reply, whole);
      return;
    }
    this.#body = body;
    // JSON events end with a newline. The boundaries of other encodings are unknown here: they may
    // be ended anywhere.
    this.#framed = this.#exchange.info.verb === 'watch' && isJson(reply);
    this.#wire.head(reply);
    body.attach(this);
    if (this.#ending && !this.#over && this.#atBoundary) this.#endWatch();
  }

  #complete(reply: Reply, body: Uint8Array | null): void {
    this.#over = true;
    this.#writtenBytes = body?.byteLength ?? 0;
    this.#wire.complete(reply, body);
  }

  #abandon(reply: Reply): void {
    this.#over = true;
    discard(reply);
    this.#wire.cut();
  }

  #endWatch(): void {
    if (this.#over) return;
    this.#over = true;
    this.#body?.cancel(new Error('this server is shutting down'));
    this.#wire.end([]);
  }
}

function isJson(reply: Reply): boolean {
  return headerValue(reply.headers, 'content-type')?.startsWith('application/json') ?? false;
}
