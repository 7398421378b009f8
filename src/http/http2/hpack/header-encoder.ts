import { fieldName } from './field-names.js';
import { LENGTH_BYTES_MAX, writeLength } from './string-length.js';

/*
 * Encoding without a state: names of the static table and literals that nobody indexes, no Huffman code. A block is then the
 * same on every connection and can be kept, and nothing is compressed together with what somebody else may guess at.
 */

/** RFC 7541, appendix A: the statuses that are one octet. */
const INDEXED_STATUS: ReadonlyMap<number, number> = new Map([
  [200, 8],
  [204, 9],
  [206, 10],
  [304, 11],
  [400, 12],
  [404, 13],
  [500, 14],
]);

const STATUS_BYTES_MAX = 5;
/** A first octet and two lengths. */
const FIELD_OVERHEAD_BYTES_MAX = 1 + 2 * LENGTH_BYTES_MAX;

/** Shorter values are written faster here than by a call out of JavaScript. */
const LOOPED_CHARS_MAX = 40;

/** RFC 9113, 8.2.1; and what is no octet, as the low one of U+010A is a line feed. */
const FORBIDDEN = /[\0\r\n\u0100-\uffff]/;

/** How much room a block needs at most, trailers included. */
export function encodedBytesMax(_status: number, fields: readonly string[]): number {
  let bytes = STATUS_BYTES_MAX + (fields.length >> 1) * FIELD_OVERHEAD_BYTES_MAX;
  for (let i = 0; i < fields.length; i++) bytes += fields[i]!.length;
  return bytes;
}

/**
 * Writes a block at `offset` and returns the offset behind it. `fields` are raw pairs in any spelling: names become lower
 * case, those HTTP/2 forbids are left out, and of those that may stand once the first stays. Throws where a field cannot be
 * sent; what it has written by then means nothing.
 */
export function encodeResponse(into: Buffer, offset: number, status: number, fields: readonly string[]): number {
  return encodeFields(into, encodeStatus(into, offset, status), fields);
}

export function encodeTrailers(into: Buffer, offset: number, fields: readonly string[]): number {
  return encodeFields(into, offset, fields);
}

function encodeStatus(into: Buffer, offset: number, status: number): number {
  const index = INDEXED_STATUS.get(status);
  if (index !== undefined) {
    into[offset] = 0x80 | index;
    return offset + 1;
  }
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new RangeError(`${status} is no status`);
  into[offset] = 0x08;
  into[offset + 1] = 3;
  into[offset + 2] = 0x30 + Math.trunc(status / 100);
  into[offset + 3] = 0x30 + (Math.trunc(status / 10) % 10);
  into[offset + 4] = 0x30 + (status % 10);
  return offset + STATUS_BYTES_MAX;
}

function encodeFields(into: Buffer, offset: number, fields: readonly string[]): number {
  let at = offset;
  let onceBits = 0;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fieldName(fields[i]!);
    if (name.dropped || (onceBits & name.onceBit) !== 0) continue;
    onceBits |= name.onceBit;
    const { prefix } = name;
    for (let j = 0; j < prefix.length; j++) into[at++] = prefix[j]!;
    at = encodeValue(into, at, fields[i + 1]!);
  }
  // Octets behind the end are not written and nobody says so.
  if (at > into.length) throw new RangeError('the block does not fit');
  return at;
}

function encodeValue(into: Buffer, offset: number, given: string): number {
  const value = withoutOuterWhitespace(given);
  const { length } = value;
  const at = writeLength(into, offset, length);
  if (length > LOOPED_CHARS_MAX) {
    if (FORBIDDEN.test(value)) throw forbidden();
    into.write(value, at, 'latin1');
    return at + length;
  }
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i);
    if ((code < 0x20 || code > 0xff) && FORBIDDEN.test(value)) throw forbidden();
    into[at + i] = code;
  }
  return at + length;
}

/** RFC 9113, 8.2.1: a value has none at its ends, and some clients refuse the whole answer over it. */
function withoutOuterWhitespace(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isWhitespace(value.charCodeAt(start))) start++;
  while (end > start && isWhitespace(value.charCodeAt(end - 1))) end--;
  return end - start === value.length ? value : value.slice(start, end);
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function forbidden(): Error {
  return new Error('the value of a field has a character that no value may have');
}
