/** Enough for the length of any string there can be. */
export const LENGTH_BYTES_MAX = 6;

/** RFC 7541, 5.1 and 5.2, of a string that is not Huffman coded. Returns the offset behind the number. */
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
