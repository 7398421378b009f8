/**
 * Conversion of header values: octets on the wire, which Node.js represents as one character each.
 * User names are UTF-8 on the wire, as in Go, and ordinary strings in this process.
 */

const ASCII = /^[\x00-\x7f]*$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a header value; undefined if it is not UTF-8, where two could become the same name. */
export function textFromWire(value: string): string | undefined {
  if (ASCII.test(value)) return value;
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Encodes a text that `survivesWire` as a header value for Node.js. */
export function textToWire(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Returns whether a receiver reads exactly this text. Control characters could end the field and
 * begin another one; surrounding space is trimmed by the receiver, which would turn `
 * system:masters` into a group that was never granted.
 */
export function survivesWire(text: string): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$|\p{Surrogate}/u.test(text);
}
