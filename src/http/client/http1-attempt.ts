import type { Readable } from 'node:stream';
import { AttemptError } from '../../core/host.js';
import { StatusError } from '../../kube/status-error.js';
import { attemptError } from '../../transport/attempt-errors.js';
import { type BodySource, BodyStream } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import type { RawHeaders } from '../headers.js';
import type { OutgoingRequest } from '../outgoing.js';
import { AnswerBytes, ownBytes } from './answer-bytes.js';
import { type RequestHead, requestHead } from './http1-request-head.js';
import type { Http1ResponseParser, ResponseReceiver } from './http1-response-parser.js';
import { replyHeaders } from './reply-headers.js';

const EMPTY = Buffer.alloc(0);
const NO_TRAILERS: readonly string[] = [];

export interface AttemptEvents {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  /** Whatever came of it, it is no longer in flight. Once. */
  onOver(): void;
}

/** The connection that carries an attempt. */
export interface AttemptConnection {
  /** The attempt is given up by whoever made it, and hears no more. */
  drop(attempt: Http1Attempt): void;
  headCame(attempt: Http1Attempt): void;
  pause(): void;
  resume(): void;
}

/**
 * One request on one connection. An answer that is there whole with its head becomes a reply with its bytes, without a
 * stream; most are.
 */
export class Http1Attempt implements ResponseReceiver, BodySource {
  readonly request: OutgoingRequest;
  readonly head: RequestHead;
  /** Set by the connection while it carries this. */
  connection: AttemptConnection | undefined;
  /** Something of it may have reached the server. */
  begun = false;
  private readonly address: string;
  private readonly events: AttemptEvents;
  private onBodyError: ((error: Error) => void) | undefined;
  private stopListening: (() => void) | undefined;
  private status = 0;
  private headers: RawHeaders = NO_TRAILERS;
  /** Read together with the head, before a reply was made of it. */
  private readonly bytes = new AnswerBytes();
  private trailers = NO_TRAILERS;
  private body: BodyStream | undefined;
  private over = false;

  /** Throws a StatusError for what cannot be sent. */
  constructor(address: string, request: OutgoingRequest, events: AttemptEvents) {
    this.head = requestHead(request, address);
    this.address = address;
    this.request = request;
    this.events = events;
  }

  /** False if the caller has left already; the attempt has failed then. */
  listen(): boolean {
    const { body } = this.request;
    if (body !== null && !(body instanceof Uint8Array)) {
      this.onBodyError = (error) => this.abandon(error);
      body.on('error', this.onBodyError);
    }
    const stop = this.request.onAbort(() => this.abandon(new AttemptError('maybe', 'aborted', 'the client left')));
    if (this.over) stop();
    else this.stopListening = stop;
    return !this.over;
  }

  get awaitsHead(): boolean {
    return this.status === 0;
  }

  /** Ends the attempt from our side, whatever stage it is in. */
  abandon(error: Error): void {
    if (this.over) return;
    this.connection?.drop(this);
    this.fail(error);
  }

  /** It came to nothing, or the body that flows breaks off. The connection is no longer concerned with it. */
  fail(cause: Error): void {
    if (this.over) return;
    this.finish();
    const { body } = this.request;
    const error = this.callersFault(cause) ?? attemptError(this.address, cause, this.begun);
    // What was read of it is gone, so nobody else can have it; one that was not begun stays as it is.
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
    // The connection reads the next bytes into the same memory. What streams may wait long for a slow reader, in many
    // small pieces: each would keep alive all that it shares memory with.
    if (this.body) this.body.push(ownBytes(bytes, start, end));
    else this.bytes.add(bytes, start, end);
  }

  onEnd(trailers: readonly string[]): void {
    this.trailers = trailers;
  }

  /** All that one read gave has been looked at, and there is more to come. */
  flow(): void {
    if (this.body || this.status === 0) return;
    this.settle();
  }

  /** All of the answer has come. */
  complete(): void {
    this.finish();
    if (!this.body) {
      // Whoever follows a watch looks for a stream, however short it was.
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

  /** Failures that the caller made, not the server: they must not count against the server. */
  private callersFault(cause: Error): Error | undefined {
    const { body } = this.request;
    if (body !== null && 'errored' in body && body.errored) {
      return new AttemptError('maybe', 'aborted', 'the client left in the middle of its request');
    }
    return cause instanceof StatusError ? cause : undefined;
  }
}
