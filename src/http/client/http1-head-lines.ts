import { Http1ResponseError } from './http1-response-error.js';

const HEAD_BYTES_MAX = 256 * 1024;
const HELD_BYTES_FIRST = 1_024;
const END_OF_HEAD = Buffer.from('\r\n\r\n', 'latin1');
const BEGINNING = 'HTTP/1.';
/** RFC 9112, 2.2 and 5: lines end in CRLF and contain no other control character than HTAB. */
const NOT_IN_A_HEAD = /\r(?!\n)|(?<!\r)\n|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const CR = 13;
const LF = 10;

/**
 * Extracts the lines of a head or of trailers from the received bytes; buffers an incomplete head.
 */
export class Http1HeadLines {
  /** Offset after the lines that `take` returned, the empty line included. */
  after = 0;
  private held: Buffer | undefined;
  private heldBytes = 0;

  clear(): void {
    this.held = undefined;
    this.heldBytes = 0;
  }

  /**
   * Returns the lines before the empty line, each with its CRLF, or undefined if incomplete. Throws
   * Http1ResponseError.
   */
  take(bytes: Buffer, at: number, end: number, withStatusLine: boolean): string | undefined {
    if (this.held === undefined) {
      const found = bytes.indexOf(END_OF_HEAD, at);
      if (found >= 0 && found + 4 <= end) {
        checkSize(found + 4 - at);
        this.after = found + 4;
        return checked(bytes.toString('latin1', at, found + 2));
      }
    }
    const before = this.heldBytes;
    const held = this.hold(bytes, at, end);
    const found = held.indexOf(END_OF_HEAD, Math.max(0, before - 3));
    if (found < 0) {
      checkSize(held.length);
      checkBeginning(held, before, withStatusLine);
      return undefined;
    }
    checkSize(found + 4);
    this.after = at + found + 4 - before;
    this.clear();
    return checked(held.toString('latin1', 0, found + 2));
  }

  /** Buffers bytes; the buffer doubles, so that a head sent byte by byte costs few copies. */
  private hold(bytes: Buffer, at: number, end: number): Buffer {
    const total = this.heldBytes + end - at;
    if (this.held === undefined || this.held.length < total) {
      const grown = Buffer.allocUnsafe(Math.max(HELD_BYTES_FIRST, total * 2));
      this.held?.copy(grown, 0, 0, this.heldBytes);
      this.held = grown;
    }
    bytes.copy(this.held, this.heldBytes, at, end);
    this.heldBytes = total;
    return this.held.subarray(0, total);
  }
}

function checked(text: string): string {
  if (NOT_IN_A_HEAD.test(text)) throw new Http1ResponseError('invalid control character in the response head');
  return text;
}

function checkSize(bytes: number): void {
  if (bytes > HEAD_BYTES_MAX) throw new Http1ResponseError('response head is too large');
}

/** Refuses an incomplete head that cannot become valid: its end might never arrive. */
function checkBeginning(held: Buffer, before: number, withStatusLine: boolean): void {
  for (let i = 0; withStatusLine && i < BEGINNING.length && i < held.length; i++) {
    if (held[i] !== BEGINNING.charCodeAt(i)) throw new Http1ResponseError('malformed status line');
  }
  for (let at = held.indexOf(LF, before); at >= 0; at = held.indexOf(LF, at + 1)) {
    if (held[at - 1] !== CR) throw new Http1ResponseError('invalid control character in the response head');
  }
}
