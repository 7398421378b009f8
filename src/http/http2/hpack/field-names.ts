import { staticIndexOfName } from './static-table.js';
import { LENGTH_BYTES_MAX, writeLength } from './string-length.js';

/** What is to be known of a name of a field in order to send it, found out once. */
export interface FieldName {
  /** The representation up to where the value's length begins. */
  readonly prefix: Uint8Array;
  /** RFC 9113, 8.2.2: HTTP/2 has no place for the fields that speak of an HTTP/1.1 connection. */
  readonly dropped: boolean;
  /** A bit of its own where a field may stand only once, 0 for all others. */
  readonly onceBit: number;
}

/** An answer repeats few names, but whoever is behind the proxy may invent as many as it likes. */
const NAMES_KEPT_MAX = 512;
const KEPT_NAME_CHARS_MAX = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
]);

/** Web servers behind a pod's `proxy` do repeat some of these; clients read the first, and some refuse a second. */
const SINGLE_VALUED: readonly string[] = [
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'content-encoding', 'content-language'],
  ...['content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date', 'etag', 'expires'],
  ...['last-modified', 'location', 'retry-after', 'tk', 'x-content-type-options'],
];

/** RFC 7541, 7.1.3: secrets that nobody further on may put in a table shared with other requests. */
const NEVER_INDEXED: ReadonlySet<string> = new Set([
  ...['set-cookie', 'cookie', 'authorization', 'proxy-authorization'],
  ...['authentication-info', 'proxy-authentication-info'],
]);

const kept = new Map<string, FieldName>();

/** Takes a name in any spelling. Throws for one that is not a token, which a pseudo-header is not either. */
export function fieldName(spelling: string): FieldName {
  const known = kept.get(spelling);
  if (known !== undefined) return known;
  // Before lower-casing, which makes a plain `k` of the Kelvin sign.
  if (!TOKEN.test(spelling)) throw new Error('the name of a field has a character that no name may have');
  const made = makeFieldName(spelling.toLowerCase());
  if (spelling.length <= KEPT_NAME_CHARS_MAX) {
    // Those in use come back at once; to find out which are oldest would cost every answer something.
    if (kept.size >= NAMES_KEPT_MAX) kept.clear();
    kept.set(spelling, made);
  }
  return made;
}

function makeFieldName(name: string): FieldName {
  const once = SINGLE_VALUED.indexOf(name);
  const representation = NEVER_INDEXED.has(name) ? 0x10 : 0x00;
  return {
    prefix: literalPrefix(name, representation),
    dropped: CONNECTION_SPECIFIC.has(name),
    onceBit: once < 0 ? 0 : 1 << once,
  };
}

/** RFC 7541, 6.2.2 and 6.2.3: literals that leave the table as it is, the name by its static index where it has one. */
function literalPrefix(name: string, representation: number): Uint8Array {
  const index = staticIndexOfName(name);
  if (index === undefined) {
    const bytes = Buffer.alloc(1 + LENGTH_BYTES_MAX + name.length);
    bytes[0] = representation;
    const start = writeLength(bytes, 1, name.length);
    return bytes.subarray(0, start + bytes.write(name, start, 'latin1'));
  }
  // Four bits hold numbers up to 14; the static table ends before a second further octet would be needed.
  return index < 0x0f ? Buffer.of(representation | index) : Buffer.of(representation | 0x0f, index - 0x0f);
}
