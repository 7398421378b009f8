import { Http1ResponseError } from './http1-response-error.js';

export interface ChunkReceiver {
  /** The bytes belong to whoever called `read`. */
  onBody(bytes: Buffer, start: number, end: number): void;
}

/** 16^13 is still counted exactly. */
const SIZE_DIGITS_MAX = 13;
/** Chunk lines may be longer than what they carry by this much in all, before it is taken for ill will. */
const OVERHEAD_BYTES_MAX = 16 * 1024;
/** What the line of a chunk may have beyond its size each time without being counted. */
const OVERHEAD_BYTES_USUAL = 16;

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const DELETE = 127;

const State = { size: 0, blank: 1, extension: 2, sizeLf: 3, data: 4, dataCr: 5, dataLf: 6, over: 7 } as const;

/**
 * RFC 9112, 7.1: the chunks of one body after another. Byte by byte but for the data: lines are a few bytes long, and so
 * may be cut anywhere.
 */
export class Http1Chunks {
  private state: number = State.over;
  private leftBytes = 0;
  private sizeDigits = 0;
  private overheadBytes = 0;

  /** The line of the last chunk was read, trailers follow; or it was stopped. */
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

  /** Where it has come to: `end`, unless it is over. Throws Http1ResponseError. */
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
    switch (this.state) {
      case State.size:
        this.takeSizeByte(byte);
        break;
      case State.blank:
        if (byte === SEMICOLON) this.state = State.extension;
        else if (byte !== SPACE && byte !== TAB) throw new Http1ResponseError('malformed size of a chunk');
        this.countOverhead();
        break;
      case State.extension:
        if (byte === CR) this.state = State.sizeLf;
        else if ((byte < SPACE && byte !== TAB) || byte === DELETE)
          throw new Http1ResponseError('malformed extension of a chunk');
        this.countOverhead();
        break;
      case State.sizeLf:
        if (byte !== LF) throw new Http1ResponseError('malformed line of a chunk');
        this.beginChunk();
        break;
      case State.dataCr:
        if (byte !== CR) throw new Http1ResponseError('a chunk is longer than its size');
        this.state = State.dataLf;
        break;
      case State.dataLf:
        if (byte !== LF) throw new Http1ResponseError('a chunk is longer than its size');
        this.state = State.size;
        this.sizeDigits = 0;
    }
  }

  private takeSizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.sizeDigits > SIZE_DIGITS_MAX) throw new Http1ResponseError('a chunk is too large');
      this.leftBytes = this.sizeDigits === 1 ? digit : this.leftBytes * 16 + digit;
      return;
    }
    if (this.sizeDigits === 0) throw new Http1ResponseError('malformed size of a chunk');
    if (byte === CR) this.state = State.sizeLf;
    else if (byte === SEMICOLON) this.state = State.extension;
    else if (byte === SPACE || byte === TAB) this.state = State.blank;
    else throw new Http1ResponseError('malformed size of a chunk');
  }

  private beginChunk(): void {
    this.state = this.leftBytes === 0 ? State.over : State.data;
    this.overheadBytes = Math.max(this.overheadBytes - OVERHEAD_BYTES_USUAL - this.leftBytes, 0);
  }

  private countOverhead(): void {
    if (++this.overheadBytes > OVERHEAD_BYTES_MAX) throw new Http1ResponseError('extensions of chunks are too long');
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
