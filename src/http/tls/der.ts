/** One DER value: tag octet, content, and the whole encoding. */
export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Bytes that are not valid in a certificate. */
export class DerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DerError';
  }
}

/**
 * Reads consecutive DER values strictly: only low tag numbers and shortest-form definite lengths.
 * With leniency two readers of one certificate could see different contents. Nesting uses no stack:
 * the caller opens a reader for each level.
 */
export class DerReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  peekTag(): number | undefined {
    return this.#bytes[this.#at];
  }

  any(): DerValue {
    const start = this.#at;
    const tag = this.#octet();
    if ((tag & 0x1f) === 0x1f) throw new DerError('tag numbers above 30 have no place in a certificate');
    const length = this.#length();
    const from = this.#at;
    if (length > this.#bytes.length - from) throw new DerError('a value reaches past the end of what holds it');
    this.#at = from + length;
    return { tag, content: this.#bytes.subarray(from, this.#at), whole: this.#bytes.subarray(start, this.#at) };
  }

  read(tag: number): DerValue {
    const value = this.any();
    if (value.tag !== tag) throw new DerError(`tag 0x${hex(value.tag)} where 0x${hex(tag)} belongs`);
    return value;
  }

  /** Reads the next value if it has this tag. */
  optional(tag: number): DerValue | undefined {
    return this.peekTag() === tag ? this.any() : undefined;
  }

  open(tag: number): DerReader {
    return new DerReader(this.read(tag).content);
  }

  end(): void {
    if (!this.done) throw new DerError('bytes follow the last value');
  }

  #octet(): number {
    const octet = this.#bytes[this.#at];
    if (octet === undefined) throw new DerError('a value is cut off');
    this.#at++;
    return octet;
  }

  #length(): number {
    const first = this.#octet();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    // Three octets are enough for any certificate in a TLS handshake.
    if (count === 0 || count > 3) throw new DerError('an indefinite or oversized length');
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + this.#octet();
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a length not in its shortest form');
    return length;
  }
}

/** Returns the dotted form of an object identifier. */
export function oidText(content: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  let open = false;
  for (const octet of content) {
    if (!open && octet === 0x80) throw new DerError('an object identifier with padding');
    arc = arc * 128 + (octet & 0x7f);
    if (arc > 0xffffffff) throw new DerError('an object identifier with an oversized arc');
    open = (octet & 0x80) !== 0;
    if (open) continue;
    if (arcs.length === 0) {
      const root = Math.min(Math.floor(arc / 40), 2);
      arcs.push(root, arc - root * 40);
    } else {
      arcs.push(arc);
    }
    arc = 0;
  }
  if (open || arcs.length === 0) throw new DerError('an object identifier is cut off');
  return arcs.join('.');
}

/** Decodes a character string by the rules of Go, which also refuses the other kinds. */
export function stringText(value: DerValue): string {
  const { content } = value;
  switch (value.tag) {
    case TAG.utf8String:
      return utf8Text(content);
    case TAG.printableString:
      // '*' and '&' are not allowed by the standard, but accepted by Go.
      return matching(content, /^[a-zA-Z0-9'()+,\-./ :=?*&]*$/, 'PrintableString');
    case TAG.numericString:
      return matching(content, /^[0-9 ]*$/, 'NumericString');
    case TAG.ia5String:
      return matching(content, /^[\x00-\x7f]*$/, 'IA5String');
    case TAG.t61String:
      // As Latin-1, as in other implementations.
      return latin1(content);
    case TAG.bmpString:
      return bmpText(content);
    default:
      throw new DerError(`a name in an unsupported kind of string (tag 0x${hex(value.tag)})`);
  }
}

/** Returns the time of a UTCTime or GeneralizedTime in the form of RFC 5280 (seconds, `Z`). */
export function timeMs(value: DerValue): number {
  const text = latin1(value.content);
  const utc = value.tag === TAG.utcTime;
  if (!utc && value.tag !== TAG.generalizedTime) throw new DerError('a time of an unknown kind');
  const fields = (
    utc ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/ : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/
  )
    .exec(text)
    ?.slice(1)
    .map(Number);
  if (!fields) throw new DerError('a malformed time');
  const [year, month, day, hour, minute, second] = fields as [number, number, number, number, number, number];
  // RFC 5280, 4.1.2.5.1: two-digit years from 50 are 19xx.
  const fullYear = utc ? (year >= 50 ? 1900 + year : 2000 + year) : year;
  const date = new Date(0);
  date.setUTCFullYear(fullYear, month - 1, day);
  date.setUTCHours(hour, minute, second, 0);
  const rolledOver = date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCHours() !== hour;
  if (rolledOver || minute > 59 || second > 59) throw new DerError('a time that does not exist');
  return date.getTime();
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8Text(content: Uint8Array): string {
  try {
    return strictUtf8.decode(content);
  } catch {
    throw new DerError('a UTF8String that is not UTF-8');
  }
}

function matching(content: Uint8Array, pattern: RegExp, kind: string): string {
  const text = latin1(content);
  if (!pattern.test(text)) throw new DerError(`an invalid ${kind}`);
  return text;
}

function bmpText(content: Uint8Array): string {
  if (content.length % 2 !== 0) throw new DerError('a BMPString of odd length');
  let text = '';
  for (let i = 0; i < content.length; i += 2) {
    const unit = content[i]! * 256 + content[i + 1]!;
    // A terminating zero is dropped, as in Go; anywhere else it is a character.
    if (unit === 0 && i === content.length - 2) break;
    const reserved = unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff);
    if (reserved) throw new DerError('a BMPString with reserved code points');
    text += String.fromCharCode(unit);
  }
  return text;
}

function latin1(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
