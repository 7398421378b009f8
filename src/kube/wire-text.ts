import { isUtf8 } from 'node:buffer';

/**
 * Conversion of request targets: Node.js represents each octet as one character; Go, and thus
 * Kubernetes, interprets the octets as UTF-8 after percent-decoding.
 */

/**
 * Decodes a raw path as Go does. Octets that are not UTF-8, which Go keeps as they are, become lone surrogates
 * (U+DC80 to U+DCFF): no valid text has them, so two different paths are never decoded to the same text.
 * Returns undefined for malformed percent-encoding.
 */
export function decodePath(rawPath: string): string | undefined {
  if (PLAIN.test(rawPath)) return rawPath;
  if (MALFORMED.test(rawPath)) return undefined;
  const octets = rawPath.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return textOf(Buffer.from(octets, 'latin1'));
}

/** Decodes a raw query, which stays percent-encoded, as UTF-8. */
export function decodeQuery(rawQuery: string): string {
  return ASCII.test(rawQuery) ? rawQuery : Buffer.from(rawQuery, 'latin1').toString('utf8');
}

/** Returns whether text of a decoded path was UTF-8, so that it can be a name. */
export function isValidText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

const PLAIN = /^[\x00-\x24\x26-\x7f]*$/;
const ASCII = /^[\x00-\x7f]*$/;
const MALFORMED = /%(?![0-9a-fA-F]{2})|[^\x00-\xff]/;

function textOf(octets: Buffer): string {
  if (isUtf8(octets)) return octets.toString('utf8');
  let text = '';
  for (let at = 0; at < octets.length; ) {
    const length = sequenceLength(octets[at]!);
    const sequence = octets.subarray(at, at + length);
    if (isUtf8(sequence)) {
      text += sequence.toString('utf8');
      at += length;
    } else {
      text += String.fromCharCode(0xdc00 + octets[at]!);
      at += 1;
    }
  }
  return text;
}

/** Returns the length of the UTF-8 sequence that begins with this octet; 1 for an invalid one. */
function sequenceLength(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
