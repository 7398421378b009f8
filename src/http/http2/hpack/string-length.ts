/** Upper bound of an encoded string length: one octet and five of 7 bits. */
export const LENGTH_BYTES_MAX = 6;

/** Writes the length of a string without Huffman code (RFC 7541, 5.1); returns the offset after. */
export function writeLength(into: Uint8Array, offset: number, length: number): number {
  let at = offset;
  if (length < 0x7f) {
    into[at++] = length;
    return at;
  }
  into[at++] = 0x7f;
  let rest = length - 0x7f;
  for (; rest >= 0x80; rest >>>= 7) into[at++] = 0x80 | (rest & 0x7f);
  into[at++] = rest;
  return at;
}
