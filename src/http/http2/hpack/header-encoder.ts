import { fieldName } from './field-names.js';
import { LENGTH_BYTES_MAX, writeLength } from './string-length.js';

/*
 * Stateless encoding: static table names and literals without indexing, no Huffman code. A block
 * has the same bytes on every connection, and no secret is compressed together with attacker-chosen
 * values (CRIME).
 */

/** Statuses with an entry in the static table, encoded as one octet (RFC 7541, appendix A). */
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
/** First octet and two string lengths. */
const FIELD_OVERHEAD_BYTES_MAX = 1 + 2 * LENGTH_BYTES_MAX;

/** Up to this length a loop is faster than Buffer.write, which calls into C++. */
const LOOPED_CHARS_MAX = 40;

/** NUL, CR, LF (RFC 9113, 8.2.1); above latin1, since the low octet of U+010A is a line feed. */
const FORBIDDEN = /[\0\r\n\u0100-\uffff]/;

/** Returns an upper bound of the encoded size of a response head or of trailers. */
export function encodedBytesMax(_status: number, fields: readonly string[]): number {
  let bytes = STATUS_BYTES_MAX + (fields.length >> 1) * FIELD_OVERHEAD_BYTES_MAX;
  for (let i = 0; i < fields.length; i++) bytes += fields[i]!.length;
  return bytes;
}

/**
 * Writes a header block at `offset` and returns the offset after it. `fields` alternates names in
 * any case and values: names are lower-cased, connection-specific fields are left out, and of
 * repeated single-valued fields only the first is sent. Throws for a field that cannot be sent; the
 * bytes written until then are undefined.
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
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new RangeError(`invalid status ${status}`);
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
  // Writes beyond the end of a Buffer are silently ignored.
  if (at > into.length) throw new RangeError('header block does not fit into the buffer');
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

/** Trims spaces and tabs (RFC 9113, 8.2.1), over which some clients refuse the response. */
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
  return new Error('invalid character in a header field value');
}
