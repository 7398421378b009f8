export interface RequestHead {
  readonly method: string;
  /** `:path` as it came. */
  readonly target: string;
  /** Names and values in turn, without pseudo-headers, with `host`. */
  readonly headers: string[];
  /** -1 where the client did not say. */
  readonly contentLength: number;
}

const FieldKind = {
  ordinary: 0,
  /** RFC 9113, 8.2.2: speaks of a connection, and of one that is not HTTP/2. */
  forbidden: 1,
  te: 2,
  contentLength: 3,
  host: 4,
  cookie: 5,
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
];

/** Names that were looked at before, so that the usual ones cost one look-up. Bounded: clients choose what they send. */
const kinds = new Map<string, FieldKind>(KINDS);
const KNOWN_NAMES_MAX = 1_024;
const KNOWN_NAME_LENGTH_MAX = 64;

const NAME = /^[a-z0-9!#$%&'*+\-.^_`|~]+$/;
const METHOD = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+\-.]*$/;
/** RFC 3986, without user information, which RFC 9113, 8.3.1 forbids. */
const AUTHORITY = /^[A-Za-z0-9\-._~!$&'()*+,;=:%[\]]+$/;
/** The target goes into the first line of an HTTP/1.1 request as it is: no space, no control character, ASCII only. */
const TARGET = /^\/[\x21-\x7e]*$/;
/** Node's own client and many servers refuse these too; NUL, CR and LF are what RFC 9113, 8.2.1 names. */
const VALUE_REFUSED = /[\x00-\x08\x0a-\x1f\x7f]/;
const LENGTH = /^[0-9]{1,15}$/;

/** Reads and judges one request's fields as RFC 9113, 8.2 and 8.3 say. A string is why they are malformed. */
export function readRequestHead(fields: readonly string[]): RequestHead | string {
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
    else return 'a pseudo-header that is unknown or repeated';
  }
  if (method === undefined || !METHOD.test(method)) return 'no method';
  if (method === 'CONNECT') return 'CONNECT is not served';
  if (scheme === undefined || !SCHEME.test(scheme)) return 'no scheme';
  if (target === undefined || !(TARGET.test(target) || (target === '*' && method === 'OPTIONS'))) return 'no path';
  if (authority !== undefined && !AUTHORITY.test(authority)) return 'an authority that is none';
  return readFields(fields, at, { method, target, authority });
}

/** RFC 9113, 8.1: fields after the body may not speak of the request itself. */
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
): RequestHead | string {
  const headers: string[] = [];
  let cookie: string | undefined;
  let host: string | undefined;
  let contentLength = -1;
  for (let i = from; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    const kind = kindOf(name);
    if (kind === undefined) return 'a name that is none, or a pseudo-header after other fields';
    if (!isValue(value)) return 'a value with characters that are not allowed';
    switch (kind) {
      case FieldKind.ordinary:
        break;
      case FieldKind.forbidden:
        return 'a field of HTTP/1.1 connections';
      case FieldKind.te:
        if (value !== 'trailers') return 'a TE other than trailers';
        break;
      case FieldKind.contentLength:
        if (contentLength !== -1 || !LENGTH.test(value)) return 'a length that is none, or repeated';
        contentLength = Number(value);
        break;
      case FieldKind.host:
        if (host !== undefined || !AUTHORITY.test(value)) return 'a Host that is none, or repeated';
        host = value;
        break;
      case FieldKind.cookie:
        // RFC 9113, 8.2.3: what was split for compression is one field everywhere else.
        cookie = cookie === undefined ? value : `${cookie}; ${value}`;
        continue;
    }
    headers.push(name, value);
  }
  const { method, target, authority } = line;
  if (cookie !== undefined) headers.push('cookie', cookie);
  if (host === undefined) {
    if (authority === undefined) return 'neither an authority nor a Host';
    headers.push('host', authority);
  } else if (authority !== undefined && host !== authority && host.toLowerCase() !== authority.toLowerCase()) {
    return 'a Host that differs from the authority';
  }
  return { method, target, headers, contentLength };
}

function isPseudo(name: string): boolean {
  return name.charCodeAt(0) === 0x3a;
}

function kindOf(name: string): FieldKind | undefined {
  const known = kinds.get(name);
  if (known !== undefined) return known;
  if (!NAME.test(name)) return undefined;
  if (name.length <= KNOWN_NAME_LENGTH_MAX) {
    // Those in use come back at once.
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
