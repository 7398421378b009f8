import { withoutBearerProtocols } from '../../http/bearer.js';
import type { Exchange } from '../../http/exchange.js';
import { hopByHopNames, type RawHeaders } from '../../http/headers.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { Lane } from '../../http/outgoing.js';
import { StatusError } from '../../kube/status-error.js';
import { type HeaderAction, headerActions } from './header-actions.js';
import { survivesWire, textToWire } from './header-text.js';
import { DEFAULT_REQUEST_HEADERS, type RequestHeaderNames } from './request-header.js';

export interface HeaderRecipient {
  readonly kind: 'kube-apiserver' | 'straddle';
  /** The request is sent to a peer instead of the local host, and must not be rerouted again. */
  readonly rerouted: boolean;
  /** Value of `Host` instead of the client's. */
  readonly host?: string;
}

export interface OutgoingHeaders {
  readonly headers: string[];
  readonly lane: Lane;
}

/** Throws StatusError for a request that cannot be sent on without changing its meaning. */
export type MakeOutgoingHeaders = (exchange: Exchange, to: HeaderRecipient) => OutgoingHeaders;

const HOP_BY_HOP = hopByHopNames([]);

/**
 * Makes the header fields of an outgoing request from the incoming ones and the caller's identity.
 * Fields that a server would trust as written by Straddle (identity, reroute mark, address of the
 * caller) are never copied from untrusted clients.
 */
export function createOutgoingHeaders(names: Partial<RequestHeaderNames> = {}): MakeOutgoingHeaders {
  const actionOf = headerActions(names);
  const identityFields = identityFieldsOf(names);

  return function outgoingHeaders(exchange, to) {
    const { identity, headers: incoming, trustedProxy, upgrade } = exchange;
    const established = identity.kind === 'established';
    const listed = hopByHopNames(incoming);
    const headers: string[] = [];
    let host = to.host;
    let forwardedFor = '';
    let protocol: string | undefined;
    for (let i = 0; i < incoming.length; i += 2) {
      const name = incoming[i]!;
      const value = incoming[i + 1]!;
      const action: HeaderAction = actionOf(name);
      if (action === 'drop') continue;
      if (listed !== HOP_BY_HOP && endsHere(listed, name)) continue;
      if (upgrade && /[\0\r\n]/.test(value)) throw malformed('a header value with control characters');
      if (action === 'keep') headers.push(name, value);
      else if (action === 'host') host ??= value;
      else if (action === 'credentials') {
        if (!established) headers.push(name, value);
      } else if (action === 'websocket-protocol') {
        const sent = established ? withoutBearerProtocols(value) : value;
        if (sent !== '') headers.push(name, sent);
      } else if (action === 'forwarded') {
        if (trustedProxy) headers.push(name, value);
      } else if (action === 'forwarded-for') {
        if (trustedProxy) forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
      } else if (action === 'te') {
        if (value.trim().toLowerCase() === 'trailers') headers.push(name, value);
      } else if (action === 'upgrade') protocol ??= value;
      else throw malformed('a malformed header name');
    }
    if (host !== undefined) headers.push('Host', host);
    if (upgrade && protocol !== undefined) headers.push('Connection', 'Upgrade', 'Upgrade', protocol);
    const address = exchange.connection.remoteAddress;
    if (address !== '') headers.push('X-Forwarded-For', forwardedFor === '' ? address : `${forwardedFor}, ${address}`);
    // A request that a peer rerouted here must not be rerouted by the API server's peer proxy
    // either.
    if (to.rerouted || exchange.peerProxied) headers.push('X-Kubernetes-Peer-Proxied', 'true');
    if (established) for (const field of identityFields(identity)) headers.push(field);
    return { headers, lane: established || to.kind === 'straddle' ? 'front-proxy' : 'plain' };
  };
}

/**
 * `Connection` may name further fields of this hop only. It must not take away what limits or frames a request: behind
 * a proxy that adds `Impersonate-User`, a caller could otherwise have it removed and act as the proxy itself.
 */
function endsHere(listed: ReadonlySet<string>, name: string): boolean {
  const lower = name.toLowerCase();
  if (!listed.has(lower) || HOP_BY_HOP.has(lower)) return false;
  if (lower.startsWith('impersonate-') || MUST_STAY.has(lower)) {
    throw malformed(`Connection must not name ${lower}`);
  }
  return true;
}

const MUST_STAY: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'x-forwarded-for',
]);

function malformed(message: string): StatusError {
  return new StatusError('BadRequest', message);
}

/** Returns the function that makes identity fields, cached per identity object. */
function identityFieldsOf(names: Partial<RequestHeaderNames>): (identity: EstablishedIdentity) => RawHeaders {
  const first = (field: keyof RequestHeaderNames) => names[field]?.[0]?.trim() || DEFAULT_REQUEST_HEADERS[field][0]!;
  const userField = first('usernameHeaders');
  const uidField = first('uidHeaders');
  const groupField = first('groupHeaders');
  const extraPrefix = first('extraHeaderPrefixes');
  const made = new WeakMap<EstablishedIdentity, RawHeaders>();

  return (identity) => {
    const known = made.get(identity);
    if (known) return known;
    if (identity.user === '') throw unsendable('an empty user name');
    const fields = [userField, wireValue(identity.user)];
    if (identity.uid !== '') fields.push(uidField, wireValue(identity.uid));
    for (const group of identity.groups) if (group !== '') fields.push(groupField, wireValue(group));
    for (const [key, values] of identity.extra) {
      const name = extraPrefix + escapeHeaderKey(key);
      for (const value of values) fields.push(name, wireValue(value));
    }
    made.set(identity, fields);
    return fields;
  };
}

function wireValue(text: string): string {
  if (!survivesWire(text)) throw unsendable('control characters or surrounding space in a name');
  return textToWire(text);
}

function unsendable(what: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', {
    causes: [{ reason: 'IdentityUnsendable', message: `the caller's identity cannot be sent in headers: ${what}` }],
  });
}

/**
 * Escapes an extra key for a field name, as Kubernetes clients do: octets not allowed in names, and
 * `%`, become `%XX`. Capitals are escaped too, unlike in those clients: the receiver converts names
 * to lower case before it decodes them.
 */
export function escapeHeaderKey(key: string): string {
  if (/^[a-z0-9!#$&'*+\-.^_`|~]*$/.test(key)) return key;
  let escaped = '';
  for (const octet of Buffer.from(key, 'utf8')) {
    const character = String.fromCharCode(octet);
    escaped += /[a-z0-9!#$&'*+\-.^_`|~]/.test(character)
      ? character
      : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
