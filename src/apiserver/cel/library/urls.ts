import { fail } from '../failure.js';
import { declare, traversal } from '../overload.js';
import { CelList, CelMap, CelUrl, type UrlParts, type Value } from '../values.js';

export const URLS = [
  declare('url(string) -> url', (text: string) => new CelUrl(parseUrl(text)), traversal()),
  declare('isURL(string) -> bool', (text: string) => urlProblem(text) === undefined),
  declare('url::getScheme() -> string', ({ parts }: CelUrl) => parts.scheme),
  declare('url::getHost() -> string', ({ parts }: CelUrl) => parts.host),
  declare('url::getHostname() -> string', ({ parts }: CelUrl) => parts.hostname),
  declare('url::getPort() -> string', ({ parts }: CelUrl) => parts.port),
  declare('url::getEscapedPath() -> string', ({ parts }: CelUrl) => parts.escapedPath),
  declare('url::getQuery() -> map<string, list<string>>', ({ parts }: CelUrl) => queryOf(parts.query)),
];

/** The problem of a text as a URL, in Go's words; undefined for a valid one. */
export function urlProblem(text: string): string | undefined {
  try {
    readUrl(text);
    return undefined;
  } catch (error) {
    return (error as { message: string }).message;
  }
}

function parseUrl(text: string): UrlParts {
  const problem = urlProblem(text);
  return problem === undefined ? readUrl(text) : fail(`URL parse error during conversion from string: ${problem}`);
}

function readUrl(text: string): UrlParts {
  const bad = (why: string): never => fail(`parse ${JSON.stringify(text)}: ${why}`);
  if (text === '') return bad('empty url');
  if (/[\x00-\x1f\x7f]/.test(text)) return bad('net/url: invalid control character in URL');
  const [whole] = text.split('#', 1) as [string];
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(whole)?.[1] ?? '';
  if (whole.startsWith(':')) return bad('missing protocol scheme');
  const afterScheme = scheme === '' ? whole : whole.slice(scheme.length + 1);
  if (!afterScheme.startsWith('/')) {
    if (scheme === '') return bad('invalid URI for request');
    return { text, scheme: scheme.toLowerCase(), host: '', hostname: '', port: '', escapedPath: '', query: '' };
  }
  const mark = afterScheme.indexOf('?');
  const beforeQuery = mark === -1 ? afterScheme : afterScheme.slice(0, mark);
  const query = mark === -1 ? '' : afterScheme.slice(mark + 1);
  const hasAuthority = beforeQuery.startsWith('//') && (scheme !== '' || !beforeQuery.startsWith('///'));
  const slash = hasAuthority ? beforeQuery.indexOf('/', 2) : 0;
  const authority = hasAuthority ? beforeQuery.slice(2, slash === -1 ? undefined : slash) : '';
  const path = hasAuthority ? (slash === -1 ? '' : beforeQuery.slice(slash)) : beforeQuery;
  const badEscape = /%(?![0-9a-fA-F]{2})[\s\S]{0,2}/.exec(path)?.[0];
  if (badEscape !== undefined) return bad(`invalid URL escape ${JSON.stringify(badEscape)}`);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const { hostname, port } = splitHost(host, bad);
  return { text, scheme: scheme.toLowerCase(), host, hostname, port, escapedPath: escapePath(path), query };
}

function splitHost(host: string, bad: (why: string) => never): { hostname: string; port: string } {
  const bracketed = /^\[([^\]]*)\](.*)$/s.exec(host);
  if (host.startsWith('[') && bracketed === null) return bad("missing ']' in host");
  const colon = host.indexOf(':');
  const rest = bracketed === null ? (colon === -1 ? '' : host.slice(host.lastIndexOf(':'))) : bracketed[2]!;
  if (!/^(?::\d*)?$/.test(rest)) return bad(`invalid port ${JSON.stringify(rest)} after host`);
  const name = bracketed?.[1] ?? (colon === -1 ? host : host.slice(0, host.lastIndexOf(':')));
  const odd = /[\s"<>\\^`{|}]/.exec(name)?.[0];
  if (odd !== undefined) return bad(`invalid character ${JSON.stringify(odd)} in host name`);
  return { hostname: name, port: rest.slice(1) };
}

function escapePath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@!'()*%[\]]+/g, (part) =>
    encodeURIComponent(part.replace(/[\ud800-\udfff](?![\udc00-\udfff])/g, '\ufffd')),
  );
}

function queryOf(query: string): CelMap {
  const names = new Map<string, string[]>();
  // A pair with a semicolon or with an incomplete escape is invalid.
  const isValid = (pair: string): boolean => !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair);
  for (const [name, value] of new URLSearchParams(query.split('&').filter(isValid).join('&'))) {
    names.set(name, [...(names.get(name) ?? []), value]);
  }
  return new CelMap(
    new Map([...names].map(([name, values]): [string, [string, Value]] => [name, [name, new CelList(values)]])),
  );
}
