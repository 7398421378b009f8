import { hopByHopNames } from '../../http/headers.js';
import { DEFAULT_REQUEST_HEADERS, type RequestHeaderNames, requestHeaderReader } from './request-header.js';

/** Treatment of an incoming header field, by its name alone. */
export type HeaderAction =
  | 'keep'
  | 'drop'
  | 'host'
  | 'credentials'
  | 'websocket-protocol'
  | 'forwarded'
  | 'forwarded-for'
  | 'te'
  | 'upgrade'
  | 'malformed';

/** Bound on cached spellings: real clients use a few dozen, a hostile one only clears the cache. */
export const SPELLINGS_MAX = 1024;
const SPELLING_CHARS_MAX = 64;

const FIXED: ReadonlyMap<string, HeaderAction> = new Map<string, HeaderAction>([
  ['host', 'host'],
  ['authorization', 'credentials'],
  // May contain a bearer token.
  ['sec-websocket-protocol', 'websocket-protocol'],
  ['forwarded', 'forwarded'],
  ['x-real-ip', 'forwarded'],
  ['x-forwarded-for', 'forwarded-for'],
  ['te', 'te'],
  ['upgrade', 'upgrade'],
  // Handled by this hop.
  ['expect', 'drop'],
  ['x-kubernetes-peer-proxied', 'drop'],
]);

const HOP_BY_HOP = hopByHopNames([]);

/**
 * Returns the function that maps a field name to its action. Both the configured and the default
 * identity headers are dropped: the kube-apiserver behind may read the former, a peer the latter.
 * Names are compared as in Go, by case folding only (`X_Remote_User` is another name there too).
 */
export function headerActions(names: Partial<RequestHeaderNames>): (name: string) => HeaderAction {
  const all = [requestHeaderReader(names), requestHeaderReader(DEFAULT_REQUEST_HEADERS)];
  const identityNames = new Set(
    all.flatMap(({ usernameHeaders, uidHeaders, groupHeaders }) => [
      ...usernameHeaders,
      ...uidHeaders,
      ...groupHeaders,
    ]),
  );
  const identityPrefixes = [...new Set(all.flatMap(({ extraHeaderPrefixes }) => extraHeaderPrefixes))];

  function classify(name: string): HeaderAction {
    // HTTP/2 pseudo-headers repeat method and target.
    if (name.startsWith(':')) return name.toLowerCase() === ':authority' ? 'host' : 'drop';
    if (!/^[a-zA-Z0-9!#$%&'*+\-.^_`|~]+$/.test(name)) return 'malformed';
    const lower = name.toLowerCase();
    if (identityNames.has(lower) || identityPrefixes.some((prefix) => lower.startsWith(prefix))) return 'drop';
    const fixed = FIXED.get(lower);
    if (fixed) return fixed;
    if (HOP_BY_HOP.has(lower)) return 'drop';
    return lower.startsWith('x-forwarded-') ? 'forwarded' : 'keep';
  }

  let known = new Map<string, HeaderAction>();
  return (name) => {
    const action = known.get(name);
    if (action !== undefined) return action;
    const found = classify(name);
    if (name.length <= SPELLING_CHARS_MAX) {
      if (known.size >= SPELLINGS_MAX) known = new Map();
      known.set(name, found);
    }
    return found;
  };
}
