/**
 * Thrown for a header block that cannot be decoded: the connection must end with COMPRESSION_ERROR
 * (RFC 7541, 2.3 and 4.2; RFC 9113, 4.3).
 */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}
