import type { Readable } from 'node:stream';
import { StatusError } from '../../kube/status-error.js';
import { AttemptError, attemptError } from '../attempt-error.js';
import { type BodySource, BodyStream } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import type { RawHeaders } from '../headers.js';
import type { OutgoingRequest } from '../outgoing.js';
import { AnswerBytes, copyBytes } from './answer-bytes.js';
import { type Http1RequestHead, requestHead } from './http1-request-head.js';
import type { Http1ResponseParser, ResponseReceiver } from './http1-response-parser.js';
import { replyHeaders } from './reply-headers.js';

const EMPTY = Buffer.alloc(0);
const NO_TRAILERS: readonly string[] = [];

export interface AttemptEvents {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  /** Called once, when the attempt is no longer in flight, whatever its outcome. */
  onOver(): void;
}

/** Methods of the connection that an attempt calls. */
export interface AttemptConnection {
  /** Detaches an abandoned attempt; no more events are passed to it. */
  drop(attempt: Http1Attempt): void;
  headCame(attempt: Http1Attempt): void;
  pause(): void;
  resume(): void;
}

/**
 * One request on one connection. A response that arrives complete with its head, as most do,
 * becomes a reply with a Buffer instead of a BodyStream.
 */
export class Http1Attempt implements ResponseReceiver, BodySource {
  readonly request: OutgoingRequest;
  readonly head: Http1RequestHead;
  /** Set by the connection while it serves this attempt. */
  connection: AttemptConnection | undefined;
  /** True once bytes of the request may have reached the server. */
  begun = false;
  private readonly address: string;
  private readonly events: AttemptEvents;
  private onBodyError: ((error: Error) => void) | undefined;
  private stopListening: (() => void) | undefined;
  private status = 0;
  private headers: RawHeaders = NO_TRAILERS;
  /** Body bytes received with the head, before the reply is created. */
  private readonly bytes = new AnswerBytes();
  private trailers = NO_TRAILERS;
  private body: BodyStream | undefined;
  private over = false;

  /** Throws a StatusError for a request that cannot be sent. */
  constructor(address: string, request: OutgoingRequest, events: AttemptEvents) {
    this.head = requestHead(request, address);
    this.address = address;
    this.request = request;
    this.events = events;
  }

  /** Subscribes to aborts of the caller. Returns false if one has already failed the attempt. */
  listen(): boolean {
    const { body } = this.request;
    if (body !== null && !(body instanceof Uint8Array)) {
      this.onBodyError = (error) => this.abandon(error);
      body.on('error', this.onBodyError);
    }
    const stop = this.request.onAbort(() => this.abandon(new AttemptError('maybe', 'aborted', 'client disconnected')));
    if (this.over) stop();
    else this.stopListening = stop;
    return !this.over;
  }

  get awaitsHead(): boolean {
    return this.status === 0;
  }

  /** Cancels the attempt at any stage. */
  abandon(error: Error): void {
    if (this.over) return;
    this.connection?.drop(this);
    this.fail(error);
  }

  /** Rejects the attempt, or fails the body of its reply. The connection has detached it. */
  fail(cause: Error): void {
    if (this.over) return;
    this.finish();
    const { body } = this.request;
    const error = this.callersFault(cause) ?? attemptError(this.address, cause, this.begun);
    // A partly read body cannot be retried and is destroyed; an unread one stays usable for the
    // next attempt.
    if (this.begun && body !== null && !(body instanceof Uint8Array)) body.destroy();
    if (this.body) this.body.fail(error);
    else this.events.reject(error);
  }

  onHead(parser: Http1ResponseParser): void {
    this.status = parser.status;
    this.headers = parser.hasConnection ? replyHeaders(parser.fields) : parser.fields;
    this.connection!.headCame(this);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    // Copied, because the connection reuses its read buffer. Streamed pieces get buffers of their
    // own: many small ones may wait long for a slow reader, and each would keep a shared slab
    // alive.
    if (this.body) this.body.push(copyBytes(bytes, start, end));
    else this.bytes.add(bytes, start, end);
  }

  onEnd(trailers: readonly string[]): void {
    this.trailers = trailers;
  }

  /** Called after each read that did not complete the response. */
  flow(): void {
    if (this.body || this.status === 0) return;
    this.settle();
  }

  /** Called when the response is complete. */
  complete(): void {
    this.finish();
    if (!this.body) {
      // Consumers of a watch expect a BodyStream, however short.
      if (this.trailers.length === 0 && !this.request.isWatch) {
        this.events.resolve({ status: this.status, headers: this.headers, body: this.whole() });
        return;
      }
      this.settle();
    }
    this.body!.end(this.trailers);
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  cancel(error: Error): void {
    this.abandon(error);
  }

  private whole(): Buffer {
    const pieces = this.bytes.take();
    if (pieces.length === 0) return EMPTY;
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  private settle(): void {
    const body = new BodyStream(this);
    this.body = body;
    for (const piece of this.bytes.take()) body.push(piece);
    this.events.resolve({ status: this.status, headers: this.headers, body });
  }

  private finish(): void {
    this.over = true;
    this.connection = undefined;
    this.stopListening?.();
    if (this.onBodyError) (this.request.body as Readable).off('error', this.onBodyError);
    this.events.onOver();
  }

  /** Returns the error for failures of the caller, which must not count against the server. */
  private callersFault(cause: Error): Error | undefined {
    const { body } = this.request;
    if (body !== null && 'errored' in body && body.errored) {
      return new AttemptError('maybe', 'aborted', 'unexpected EOF in the request body: client disconnected');
    }
    return cause instanceof StatusError ? cause : undefined;
  }
}
