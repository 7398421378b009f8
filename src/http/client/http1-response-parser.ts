import { type ChunkReceiver, Http1Chunks } from './http1-chunks.js';
import { Http1HeadLines } from './http1-head-lines.js';
import { Http1ResponseError } from './http1-response-error.js';
import { FieldKind, knownName } from './known-field-names.js';

/** Receives one response in order: `onHead` once, `onBody` any number of times, `onEnd` once. */
export interface ResponseReceiver extends ChunkReceiver {
  /** Status and fields are read from `parser`, and only during this call. */
  onHead(parser: Http1ResponseParser): void;
  onEnd(trailers: readonly string[]): void;
}

const FIELDS_MAX = 1_000;
/** Bound on informational responses (100, 102, 103) before the final one. */
const INFORMATIONAL_MAX = 32;
const NO_TRAILERS: readonly string[] = [];

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;

const State = {
  idle: 0,
  head: 1,
  counted: 2,
  chunks: 3,
  afterChunks: 4,
  lastLf: 5,
  trailers: 6,
  untilClose: 7,
} as const;

/**
 * Parses the consecutive responses of one connection, however reads split them. Strict where
 * leniency would let two parsers see different responses in the same bytes (response splitting and
 * request smuggling; RFC 9112, 11.1 and 11.2): such a response is an error.
 */
export class Http1ResponseParser {
  status = 0;
  /** Alternating names and values, unchanged. */
  fields: string[] = [];
  /** `fields` has `Connection`, which may list hop-by-hop fields; others are left out already. */
  hasConnection = false;
  /** True if the connection can be reused after this response. */
  keepsAlive = false;
  /** Timeout of the `Keep-Alive` field. */
  keepAliveMs: number | undefined;

  private readonly lines = new Http1HeadLines();
  private readonly chunks = new Http1Chunks();
  private receiver: ResponseReceiver | undefined;
  private state: number = State.idle;
  private toHead = false;
  private informational = 0;
  private leftBytes = 0;
  private contentLength = -1;
  private chunked = false;

  /** True between two responses. */
  get idle(): boolean {
    return this.state === State.idle;
  }

  begin(receiver: ResponseReceiver, method: string): void {
    this.receiver = receiver;
    this.toHead = method === 'HEAD';
    this.informational = 0;
    this.state = State.head;
  }

  /** Discards the rest of the response. */
  stop(): void {
    this.receiver = undefined;
    this.state = State.idle;
    this.lines.clear();
    this.chunks.stop();
  }

  /** Returns true if unsolicited bytes follow the response. Throws Http1ResponseError. */
  execute(bytes: Buffer, start = 0, end = bytes.length): boolean {
    let at = start;
    while (at < end) {
      switch (this.state) {
        case State.idle:
          return true;
        case State.head:
          at = this.readHead(bytes, at, end);
          break;
        case State.counted:
          at = this.readCounted(bytes, at, end);
          break;
        case State.chunks:
          at = this.chunks.read(bytes, at, end, this.receiver!);
          if (this.chunks.over && this.state === State.chunks) this.state = State.afterChunks;
          break;
        case State.untilClose:
          this.receiver!.onBody(bytes, at, end);
          return false;
        default:
          at = this.readTrailers(bytes, at, end);
      }
    }
    return false;
  }

  /**
   * Called at the end of the connection. Returns true if it completes a response without a length.
   */
  finish(): boolean {
    if (this.state !== State.untilClose) return false;
    this.complete(NO_TRAILERS);
    return true;
  }

  private complete(trailers: readonly string[]): void {
    const { receiver } = this;
    this.stop();
    receiver!.onEnd(trailers);
  }

  private readHead(bytes: Buffer, at: number, end: number): number {
    const text = this.lines.take(bytes, at, end, true);
    if (text === undefined) return end;
    this.parseHead(text);
    if (this.status >= 200) this.beginBody();
    else if (this.status === 101) throw new Http1ResponseError('unexpected 101 Switching Protocols');
    // Other parsers take it for the last response of the connection, and ignore the rest.
    else if (!this.keepsAlive) throw new Http1ResponseError('informational response closes the connection');
    else if (++this.informational > INFORMATIONAL_MAX) throw new Http1ResponseError('too many informational responses');
    return this.lines.after;
  }

  /** Determines the length of the body (RFC 9112, 6.3). */
  private beginBody(): void {
    const { status } = this;
    if (this.toHead || status === 204 || status === 304) {
      // A body that follows nevertheless must not be taken for the next response. The
      // Content-Length of a 304 is that of the 200.
      if (this.chunked || (status === 204 && this.contentLength > 0)) this.keepsAlive = false;
      this.beginCounted(0);
    } else if (this.chunked) {
      this.state = State.chunks;
      this.chunks.begin();
    } else if (this.contentLength >= 0) this.beginCounted(this.contentLength);
    else {
      this.keepsAlive = false;
      this.state = State.untilClose;
    }
    this.receiver!.onHead(this);
    if (this.state === State.counted && this.leftBytes === 0) this.complete(NO_TRAILERS);
  }

  private beginCounted(bytes: number): void {
    this.leftBytes = bytes;
    this.state = State.counted;
  }

  private readCounted(bytes: Buffer, at: number, end: number): number {
    const upTo = end - at > this.leftBytes ? at + this.leftBytes : end;
    this.leftBytes -= upTo - at;
    this.receiver!.onBody(bytes, at, upTo);
    if (this.leftBytes === 0 && this.state === State.counted) this.complete(NO_TRAILERS);
    return upTo;
  }

  private readTrailers(bytes: Buffer, at: number, end: number): number {
    if (this.state === State.afterChunks) {
      this.state = bytes[at] === CR ? State.lastLf : State.trailers;
      return this.state === State.lastLf ? at + 1 : at;
    }
    if (this.state === State.lastLf) {
      if (bytes[at] !== LF) throw new Http1ResponseError('malformed end of a chunked body');
      this.complete(NO_TRAILERS);
      return at + 1;
    }
    const text = this.lines.take(bytes, at, end, false);
    if (text === undefined) return end;
    const trailers: string[] = [];
    this.parseFields(text, 0, trailers, true);
    this.complete(trailers);
    return this.lines.after;
  }

  private parseHead(text: string): void {
    const lineEnd = text.indexOf('\r\n');
    const minor = text.charCodeAt(7) - 48;
    const status = threeDigits(text, 9);
    const isStatusLine =
      text.startsWith('HTTP/1.') &&
      (minor === 0 || minor === 1) &&
      text.charCodeAt(8) === SPACE &&
      (lineEnd === 12 || (lineEnd > 12 && text.charCodeAt(12) === SPACE)) &&
      status >= 100;
    if (!isStatusLine) throw new Http1ResponseError('malformed status line');
    this.status = status;
    this.fields = [];
    this.hasConnection = false;
    this.keepsAlive = minor === 1;
    this.keepAliveMs = undefined;
    this.contentLength = -1;
    this.chunked = false;
    this.parseFields(text, lineEnd + 2, this.fields, false);
    // RFC 9112, 6.1: HTTP/1.0 has no chunked coding; with both fields, parsers may disagree about
    // the end.
    if (this.chunked && (this.contentLength >= 0 || minor === 0))
      throw new Http1ResponseError('Transfer-Encoding with Content-Length or in HTTP/1.0');
  }

  private parseFields(text: string, start: number, fields: string[], areTrailers: boolean): void {
    for (let at = start; at < text.length; ) {
      const lineEnd = text.indexOf('\r\n', at);
      const colon = text.indexOf(':', at);
      // RFC 9112, 5.1 and 5.2: no space before the colon, no folded lines; neither gives a token.
      if (colon < 0 || colon > lineEnd) throw new Http1ResponseError('malformed header field');
      const { name, kind } = knownName(text.slice(at, colon));
      if (kind === FieldKind.invalid) throw new Http1ResponseError('malformed header field name');
      if (fields.length >= 2 * FIELDS_MAX) throw new Http1ResponseError('too many header fields');
      let from = colon + 1;
      let to = lineEnd;
      while (from < to && isBlank(text.charCodeAt(from))) from++;
      while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
      const value = text.slice(from, to);
      // RFC 9110, 5.5 allows it, but other parsers read another length, or none.
      if (isFraming(kind) && text.slice(to, lineEnd).includes('\t'))
        throw new Http1ResponseError('tab after the length or coding of a body');
      // RFC 9110, 6.5.1: framing fields are not allowed in trailers.
      if (kind === FieldKind.ordinary) fields.push(name, value);
      else if (!areTrailers && this.note(kind, value)) fields.push(name, value);
      at = lineEnd + 2;
    }
  }

  /** Evaluates a field of this connection; false if it is hop-by-hop and not forwarded. */
  private note(kind: FieldKind, value: string): boolean {
    if (kind === FieldKind.contentLength) {
      // Two equal values could be accepted as one, but both fields would be forwarded.
      if (this.contentLength >= 0 || !/^\d{1,15}$/.test(value))
        throw new Http1ResponseError('malformed or repeated Content-Length');
      this.contentLength = Number(value);
    } else if (kind === FieldKind.transferEncoding) {
      if (this.chunked || value.toLowerCase() !== 'chunked') throw new Http1ResponseError('unknown Transfer-Encoding');
      this.chunked = true;
    } else if (kind === FieldKind.connection) {
      if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)) this.keepsAlive = false;
      // Kept: it may list further hop-by-hop fields, which replyHeaders removes.
      this.hasConnection = true;
      return true;
    } else if (kind === FieldKind.keepAlive) {
      const seconds = /timeout=(\d{1,9})/i.exec(value)?.[1];
      if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1_000;
    }
    return kind < FieldKind.hopByHop;
  }
}

function isFraming(kind: FieldKind): boolean {
  return kind === FieldKind.contentLength || kind === FieldKind.transferEncoding;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function threeDigits(text: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 3; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}
