import { Http1ResponseError } from './http1-response-error.js';
import { isToken } from './known-field-names.js';

export interface ChunkReceiver {
  /** The bytes are valid only during the call. */
  onBody(bytes: Buffer, start: number, end: number): void;
}

/** Bound on the digits of a chunk size: 16^13 is below Number.MAX_SAFE_INTEGER. */
const SIZE_DIGITS_MAX = 13;
/** Bound on the bytes of chunk extensions in excess of the data, above which they are an attack. */
const OVERHEAD_BYTES_MAX = 16 * 1024;
/** Bytes of extensions that each chunk line may have without being counted. */
const OVERHEAD_BYTES_USUAL = 16;

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const EQUALS = 61;
const QUOTE = 34;
const BACKSLASH = 92;
const DELETE = 127;

const State = {
  size: 0,
  sizeLf: 1,
  data: 2,
  dataCr: 3,
  dataLf: 4,
  over: 5,
  /** Those of an extension are above this one. */
  extensionStart: 6,
  extensionName: 7,
  valueStart: 8,
  value: 9,
  quoted: 10,
  escaped: 11,
  afterQuoted: 12,
} as const;

/** RFC 9110, 5.6.2: octets of a token. */
const IS_TOKEN = Uint8Array.from({ length: 256 }, (_, octet) => (isToken(String.fromCharCode(octet)) ? 1 : 0));

/**
 * Parser of chunked bodies (RFC 9112, 7.1), reused for consecutive bodies. Chunk lines are parsed
 * byte by byte, since reads may split them anywhere; data is passed without a copy.
 */
export class Http1Chunks {
  private state: number = State.over;
  private leftBytes = 0;
  private sizeDigits = 0;
  private overheadBytes = 0;

  /** True after the line of the last chunk (trailers follow), or after `stop`. */
  get over(): boolean {
    return this.state === State.over;
  }

  begin(): void {
    this.state = State.size;
    this.sizeDigits = 0;
    this.overheadBytes = 0;
  }

  stop(): void {
    this.state = State.over;
  }

  /**
   * Returns the offset after the parsed bytes: `end` until the last chunk. Throws
   * Http1ResponseError.
   */
  read(bytes: Buffer, start: number, end: number, receiver: ChunkReceiver): number {
    let at = start;
    while (at < end && this.state !== State.over) {
      if (this.state === State.data) {
        const upTo = end - at > this.leftBytes ? at + this.leftBytes : end;
        this.leftBytes -= upTo - at;
        if (this.leftBytes === 0) this.state = State.dataCr;
        receiver.onBody(bytes, at, upTo);
        at = upTo;
      } else {
        this.takeByte(bytes[at]!);
        at++;
      }
    }
    return at;
  }

  private takeByte(byte: number): void {
    if (this.state >= State.extensionStart) {
      this.state = afterExtensionByte(this.state, byte);
      this.countOverhead();
      return;
    }
    switch (this.state) {
      case State.size:
        this.takeSizeByte(byte);
        break;
      case State.sizeLf:
        if (byte !== LF) throw new Http1ResponseError('malformed chunk line');
        this.beginChunk();
        break;
      case State.dataCr:
        if (byte !== CR) throw new Http1ResponseError('chunk is longer than its size');
        this.state = State.dataLf;
        break;
      case State.dataLf:
        if (byte !== LF) throw new Http1ResponseError('chunk is longer than its size');
        this.state = State.size;
        this.sizeDigits = 0;
    }
  }

  private takeSizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.sizeDigits > SIZE_DIGITS_MAX) throw new Http1ResponseError('chunk is too large');
      this.leftBytes = this.sizeDigits === 1 ? digit : this.leftBytes * 16 + digit;
      return;
    }
    if (this.sizeDigits === 0) throw new Http1ResponseError('malformed chunk size');
    if (byte === CR) this.state = State.sizeLf;
    else if (byte === SEMICOLON) this.state = State.extensionStart;
    else throw new Http1ResponseError('malformed chunk size');
  }

  private beginChunk(): void {
    this.state = this.leftBytes === 0 ? State.over : State.data;
    this.overheadBytes = Math.max(this.overheadBytes - OVERHEAD_BYTES_USUAL - this.leftBytes, 0);
  }

  private countOverhead(): void {
    if (++this.overheadBytes > OVERHEAD_BYTES_MAX) throw new Http1ResponseError('chunk extensions are too long');
  }
}

/**
 * RFC 9112, 7.1.1: names with tokens or quoted strings as values. The blanks that recipients should tolerate between them are
 * refused, as Node.js does: nobody sends them, and where a quoted string ends two readers must not see two different chunks.
 */
function afterExtensionByte(state: number, byte: number): number {
  const isText = (byte >= SPACE && byte !== DELETE) || byte === TAB;
  switch (state) {
    case State.quoted:
      if (byte === QUOTE) return State.afterQuoted;
      if (isText) return byte === BACKSLASH ? State.escaped : State.quoted;
      break;
    case State.escaped:
      if (isText) return State.quoted;
      break;
    case State.valueStart:
      if (byte === QUOTE) return State.quoted;
      if (IS_TOKEN[byte] === 1) return State.value;
      break;
    case State.extensionStart:
      if (IS_TOKEN[byte] === 1) return State.extensionName;
      break;
    default:
      if (byte === CR) return State.sizeLf;
      if (byte === SEMICOLON) return State.extensionStart;
      if (byte === EQUALS && state === State.extensionName) return State.valueStart;
      if (IS_TOKEN[byte] === 1 && state !== State.afterQuoted) return state;
  }
  throw new Http1ResponseError('malformed chunk extension');
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
