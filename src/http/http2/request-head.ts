export interface Http2RequestHead {
  readonly method: string;
  /** `:path`, unchanged. */
  readonly target: string;
  /** Alternating names and values, without pseudo-headers, with `host`. */
  readonly headers: string[];
  /** -1 without Content-Length. */
  readonly contentLength: number;
  /** The client holds the body back until it is asked for it (RFC 9110, 10.1.1). */
  readonly expectsContinue: boolean;
}

const FieldKind = {
  ordinary: 0,
  /** Connection-specific field of HTTP/1.1 (RFC 9113, 8.2.2). */
  forbidden: 1,
  te: 2,
  contentLength: 3,
  host: 4,
  cookie: 5,
  expect: 6,
} as const;
type FieldKind = (typeof FieldKind)[keyof typeof FieldKind];

const KINDS: readonly (readonly [string, FieldKind])[] = [
  ...['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'].map(
    (name) => [name, FieldKind.forbidden] as const,
  ),
  ['te', FieldKind.te],
  ['content-length', FieldKind.contentLength],
  ['host', FieldKind.host],
  ['cookie', FieldKind.cookie],
  ['expect', FieldKind.expect],
];

/**
 * Cache of valid names: a known name costs one look-up. Bounded, since clients choose the names.
 */
const kinds = new Map<string, FieldKind>(KINDS);
const KNOWN_NAMES_MAX = 1_024;
const KNOWN_NAME_LENGTH_MAX = 64;

const NAME = /^[a-z0-9!#$%&'*+\-.^_`|~]+$/;
const METHOD = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+\-.]*$/;
/**
 * Characters of an authority (RFC 3986), without user information, which RFC 9113, 8.3.1 forbids.
 */
const AUTHORITY = /^[A-Za-z0-9\-._~!$&'()*+,;=:%[\]]+$/;
/** Copied unchanged into an HTTP/1.1 request line: no space, no control character, ASCII only. */
const TARGET = /^\/[\x21-\x7e]*$/;
/**
 * Control characters except tab. RFC 9113, 8.2.1 forbids NUL, CR and LF; Node.js and many servers
 * refuse the others too.
 */
const VALUE_REFUSED = /[\x00-\x08\x0a-\x1f\x7f]/;
const LENGTH = /^[0-9]{1,15}$/;

/** Parses the fields of one request (RFC 9113, 8.2, 8.3). Returns the reason if malformed. */
export function readRequestHead(fields: readonly string[]): Http2RequestHead | string {
  let method: string | undefined;
  let target: string | undefined;
  let scheme: string | undefined;
  let authority: string | undefined;
  let at = 0;
  for (; at < fields.length && isPseudo(fields[at]!); at += 2) {
    const name = fields[at]!;
    const value = fields[at + 1]!;
    if (name === ':method' && method === undefined) method = value;
    else if (name === ':path' && target === undefined) target = value;
    else if (name === ':scheme' && scheme === undefined) scheme = value;
    else if (name === ':authority' && authority === undefined) authority = value;
    else return 'unknown or repeated pseudo-header';
  }
  if (method === undefined || !METHOD.test(method)) return 'missing or invalid :method';
  if (method === 'CONNECT') return 'CONNECT is not supported';
  if (scheme === undefined || !SCHEME.test(scheme)) return 'missing or invalid :scheme';
  if (target === undefined || !(TARGET.test(target) || (target === '*' && method === 'OPTIONS')))
    return 'invalid :path';
  if (authority !== undefined && !AUTHORITY.test(authority)) return 'invalid :authority';
  return readFields(fields, at, { method, target, authority });
}

/** Returns whether fields are valid trailers: no pseudo- or connection field (RFC 9113, 8.1). */
export function areTrailers(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    const kind = kindOf(fields[i]!);
    if (kind === undefined || kind === FieldKind.forbidden || !isValue(fields[i + 1]!)) return false;
  }
  return true;
}

function readFields(
  fields: readonly string[],
  from: number,
  line: { method: string; target: string; authority: string | undefined },
): Http2RequestHead | string {
  const headers: string[] = [];
  let cookie: string | undefined;
  let host: string | undefined;
  let contentLength = -1;
  let expectsContinue = false;
  for (let i = from; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    const kind = kindOf(name);
    if (kind === undefined) return 'invalid header name, or a pseudo-header after regular fields';
    if (!isValue(value)) return 'invalid character in a header value';
    switch (kind) {
      case FieldKind.ordinary:
        break;
      case FieldKind.forbidden:
        return 'connection-specific header field';
      case FieldKind.te:
        if (value !== 'trailers') return 'TE other than trailers';
        break;
      case FieldKind.contentLength:
        if (contentLength !== -1 || !LENGTH.test(value)) return 'invalid or repeated Content-Length';
        contentLength = Number(value);
        break;
      case FieldKind.host:
        if (host !== undefined || !AUTHORITY.test(value)) return 'invalid or repeated Host';
        host = value;
        break;
      case FieldKind.cookie:
        // RFC 9113, 8.2.3: cookie fields split for compression are joined into one for HTTP/1.1.
        cookie = cookie === undefined ? value : `${cookie}; ${value}`;
        continue;
      case FieldKind.expect:
        if (value.toLowerCase() === '100-continue') expectsContinue = true;
        break;
    }
    headers.push(name, value);
  }
  const { method, target, authority } = line;
  if (cookie !== undefined) headers.push('cookie', cookie);
  if (host === undefined) {
    if (authority === undefined) return 'neither :authority nor Host';
    headers.push('host', authority);
  } else if (authority !== undefined && host !== authority && host.toLowerCase() !== authority.toLowerCase()) {
    return 'Host differs from :authority';
  }
  return { method, target, headers, contentLength, expectsContinue };
}

function isPseudo(name: string): boolean {
  return name.charCodeAt(0) === 0x3a;
}

function kindOf(name: string): FieldKind | undefined {
  const known = kinds.get(name);
  if (known !== undefined) return known;
  if (!NAME.test(name)) return undefined;
  if (name.length <= KNOWN_NAME_LENGTH_MAX) {
    // A full cache is cleared; names in use are added again by the next requests.
    if (kinds.size >= KNOWN_NAMES_MAX) forgetNames();
    kinds.set(name, FieldKind.ordinary);
  }
  return FieldKind.ordinary;
}

function forgetNames(): void {
  kinds.clear();
  for (const [name, kind] of KINDS) kinds.set(name, kind);
}

function isValue(value: string): boolean {
  if (value.length === 0) return true;
  return !(isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)) || VALUE_REFUSED.test(value));
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
