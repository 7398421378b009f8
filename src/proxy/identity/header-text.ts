/**
 * Header values travel as octets; Node shows each octet as one character. Names of users are UTF-8 on the wire, as Go
 * reads and writes them, and ordinary text inside this process.
 */

const ASCII = /^[\x00-\x7f]*$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a header value; undefined if it isn't UTF-8, since two such values could look like the same name. */
export function textFromWire(value: string): string | undefined {
  if (ASCII.test(value)) return value;
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The value to hand to Node for a text that `survivesWire`. */
export function textToWire(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Whether a receiver would read exactly this text. Control characters could end the field and begin another; space at
 * either end is trimmed on arrival, which would turn ` system:masters` into a group that was never granted.
 */
export function survivesWire(text: string): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$|\p{Surrogate}/u.test(text);
}
