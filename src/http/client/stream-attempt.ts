import { type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2';
import { AttemptError, attemptError } from '../attempt-error.js';
import { BodyStream } from '../body-stream.js';
import type { OutgoingRequest } from '../outgoing.js';
import type { AttemptEvents } from './http1-attempt.js';
import { replyHeaders } from './reply-headers.js';
import type { Place } from './shared-connections.js';

/** One request without a body on a stream of a shared connection. */
export class StreamAttempt {
  readonly #address: string;
  readonly #request: OutgoingRequest;
  readonly #events: AttemptEvents;
  #stream: ClientHttp2Stream | undefined;
  #body: BodyStream | undefined;
  #trailers: readonly string[] = [];
  #failure: Error | undefined;
  #done = false;
  #stopListening: () => void = () => {};

  constructor(address: string, request: OutgoingRequest, events: AttemptEvents) {
    this.#address = address;
    this.#request = request;
    this.#events = events;
  }

  get awaitsHead(): boolean {
    return this.#body === undefined;
  }

  /** True once the stream exists: the request may have reached the server. */
  get mayBeProcessed(): boolean {
    return this.#stream !== undefined;
  }

  /** Returns false, without effect, if the request cannot be expressed in HTTP/2. */
  start({ session, giveBack }: Place): boolean {
    try {
      this.#stream = session.request(requestHeaders(this.#request), { endStream: true });
    } catch {
      return false;
    }
    const stream = this.#stream;
    stream.once('close', giveBack);
    // The third argument is the raw list of names and values.
    stream.once('response', (...heard: unknown[]) => this.#onHead(heard[2] as string[]));
    stream.once('trailers', (...heard: unknown[]) => {
      this.#trailers = heard[2] as string[];
    });
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
    stream.once('end', () => {
      // Node also emits 'end' for a stream that was reset.
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR && this.#body) this.#complete(this.#body);
    });
    stream.once('close', () => this.#onClose(stream.rstCode));
    this.#stopListening = this.#request.onAbort(() =>
      this.abandon(new AttemptError('maybe', 'aborted', 'client disconnected')),
    );
    return true;
  }

  /** Cancels the attempt at any stage. */
  abandon(error: Error): void {
    if (this.#done) return;
    this.#failure = error;
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    this.#fail(error);
  }

  #onHead(raw: readonly string[]): void {
    if (this.#done) return;
    const stream = this.#stream!;
    const { status, fields } = readHead(raw);
    this.#body = new BodyStream({
      pause: () => stream.pause(),
      resume: () => stream.resume(),
      cancel: (error) => this.abandon(error),
    });
    stream.on('data', (chunk: Buffer) => this.#body!.push(chunk));
    this.#events.resolve({ status, headers: replyHeaders(fields), body: this.#body });
  }

  #complete(body: BodyStream): void {
    if (this.#done) return;
    this.#finish();
    body.end(this.#trailers);
  }

  #onClose(code: number): void {
    // RFC 9113, 8.7: REFUSED_STREAM means that the server has not processed the request.
    if (code === constants.NGHTTP2_REFUSED_STREAM && !(this.#failure instanceof AttemptError)) {
      // One that shuts down does, and one with no room for another stream or head.
      const message = `${this.#address}: the server refused the stream (REFUSED_STREAM)`;
      this.#fail(new AttemptError('unsent', 'draining', message, this.#failure));
      return;
    }
    const cause = this.#failure ?? Object.assign(new Error('connection reset by peer'), { code: 'ECONNRESET' });
    this.#fail(attemptError(this.#address, cause, true));
  }

  #fail(error: Error): void {
    if (this.#done) return;
    this.#finish();
    if (this.#body) this.#body.fail(error);
    else this.#events.reject(error);
  }

  #finish(): void {
    this.#done = true;
    this.#stopListening();
    this.#events.onOver();
  }
}

/**
 * Connection-specific fields of HTTP/1.1, and fields that pseudo-headers or the framing replace.
 */
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'host', 'http2-settings', 'keep-alive', 'proxy-connection'],
  ...['te', 'transfer-encoding', 'upgrade'],
]);

function requestHeaders({ method, target, headers }: OutgoingRequest): OutgoingHttpHeaders {
  // Without a prototype: `constructor` and `__proto__` are valid field names.
  const fields: OutgoingHttpHeaders = Object.create(null);
  Object.assign(fields, { ':method': method, ':scheme': 'https', ':path': target });
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const value = headers[i + 1]!;
    if (name === 'host') fields[':authority'] = value;
    if (NOT_IN_HTTP2.has(name)) continue;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [String(before), value];
  }
  return fields;
}

function readHead(raw: readonly string[]): { status: number; fields: string[] } {
  const fields: string[] = [];
  let status = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (raw[i] === ':status') status = Number(raw[i + 1]);
    else if (!raw[i]!.startsWith(':')) fields.push(raw[i]!, raw[i + 1]!);
  }
  return { status, fields };
}
