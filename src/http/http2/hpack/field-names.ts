import { staticIndexOfName } from './static-table.js';
import { LENGTH_BYTES_MAX, writeLength } from './string-length.js';

/** Cached facts about a field name, for encoding. */
export interface FieldName {
  /** Encoded representation up to the length of the value. */
  readonly prefix: Uint8Array;
  /** Connection-specific field, which HTTP/2 forbids (RFC 9113, 8.2.2). */
  readonly dropped: boolean;
  /** A distinct bit for each single-valued field, 0 for all others. */
  readonly onceBit: number;
}

/**
 * Bound on cached names: responses repeat few, but a server behind the proxy may invent any number.
 */
const NAMES_KEPT_MAX = 512;
const KEPT_NAME_CHARS_MAX = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
]);

/** Single-valued fields. Servers in pods repeat some, and some HTTP/2 clients refuse that. */
const SINGLE_VALUED: readonly string[] = [
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'content-encoding', 'content-language'],
  ...['content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date', 'etag', 'expires'],
  ...['last-modified', 'location', 'retry-after', 'tk', 'x-content-type-options'],
];

/** Secrets, never indexed: no intermediary may put them into a shared table (RFC 7541, 7.1.3). */
const NEVER_INDEXED: ReadonlySet<string> = new Set([
  ...['set-cookie', 'cookie', 'authorization', 'proxy-authorization'],
  ...['authentication-info', 'proxy-authentication-info'],
]);

const kept = new Map<string, FieldName>();

/** Returns the facts about a name. Throws for one that is not a token, pseudo-headers included. */
export function fieldName(spelling: string): FieldName {
  const known = kept.get(spelling);
  if (known !== undefined) return known;
  // Checked before toLowerCase(), which turns the Kelvin sign into an ASCII `k`.
  if (!TOKEN.test(spelling)) throw new Error('invalid character in a header field name');
  const made = makeFieldName(spelling.toLowerCase());
  if (spelling.length <= KEPT_NAME_CHARS_MAX) {
    // Cleared when full: names in use are added again at once, and an LRU would cost every
    // response.
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

/** Literal without indexing or never indexed (RFC 7541, 6.2.2, 6.2.3), if possible by index. */
function literalPrefix(name: string, representation: number): Uint8Array {
  const index = staticIndexOfName(name);
  if (index === undefined) {
    const bytes = Buffer.alloc(1 + LENGTH_BYTES_MAX + name.length);
    bytes[0] = representation;
    const start = writeLength(bytes, 1, name.length);
    return bytes.subarray(0, start + bytes.write(name, start, 'latin1'));
  }
  // A 4-bit prefix holds up to 14; one further octet is enough for the highest static index.
  return index < 0x0f ? Buffer.of(representation | index) : Buffer.of(representation | 0x0f, index - 0x0f);
}
