import { isUtf8 } from 'node:buffer';
import type { Exchange } from './exchange.js';
import { headerValue, headerValues } from './headers.js';

const WEBSOCKET_BEARER = 'base64url.bearer.authorization.k8s.io.';

/** The bearer tokens of a request, by the rules of kube-apiserver. */
export interface BearerTokens {
  /** In the order in which kube-apiserver tries them: the first valid one decides. */
  readonly tokens: readonly string[];
  /** The WebSocket subprotocols contain a token that kube-apiserver refuses as malformed. */
  readonly malformed: boolean;
}

const NO_TOKENS: BearerTokens = { tokens: [], malformed: false };

export function bearerTokens(exchange: Exchange): BearerTokens {
  const first = authorizationBearer(headerValue(exchange.headers, 'authorization'));
  const second = websocketBearer(exchange);
  if (first === undefined && second === undefined) return NO_TOKENS;
  const tokens = [first, second].filter((token) => typeof token === 'string');
  return { tokens, malformed: second === MALFORMED };
}

/** Returns the first bearer token of a request. */
export function bearerCredential(exchange: Exchange): string | undefined {
  const token = authorizationBearer(headerValue(exchange.headers, 'authorization'));
  if (token !== undefined) return token;
  const second = websocketBearer(exchange);
  return second === MALFORMED ? undefined : second;
}

/**
 * Returns whether a request may have a second, different token. True also for tokens that
 * kube-apiserver would refuse: a reply that may be due to another token proves nothing about the
 * first.
 */
export function hasSecondBearer(exchange: Exchange): boolean {
  if (!exchange.upgrade) return false;
  const credential = bearerCredential(exchange);
  const { encoded, isAmbiguous } = bearerProtocols(exchange);
  return isAmbiguous || encoded.some((token) => decoded(token).toString() !== credential);
}

/**
 * Returns the token of an `Authorization` value: the scheme in any case, one space, the token.
 * kube-apiserver ignores the field if two spaces precede the token, and ignores everything after a
 * space that follows it. A value with octets above 0x7f has no token here: Go and JavaScript
 * disagree about which of them are blanks, and a token that only one of the two sees could be
 * taken for proven by the reply to an anonymous request.
 */
export function authorizationBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !isAscii(authorization)) return undefined;
  const [scheme, token] = authorization.trim().split(' ', 2);
  return scheme!.toLowerCase() === 'bearer' && token ? token : undefined;
}

/** Returns a value of `Sec-WebSocket-Protocol` without the subprotocols that are bearer tokens. */
export function withoutBearerProtocols(value: string): string {
  if (!value.includes(WEBSOCKET_BEARER)) return value;
  const parts = value.split(',').map((part) => part.trim());
  return parts.filter((protocol) => !protocol.includes(WEBSOCKET_BEARER)).join(', ');
}

/** Node.js gives each octet of a header as one character. */
function isAscii(value: string): boolean {
  return !/[\u0080-\uffff]/.test(value);
}

const MALFORMED = Symbol('malformed');

/**
 * Returns the token among the subprotocols of a WebSocket, for browsers, which cannot set
 * `Authorization`. kube-apiserver accepts one, in base64url without padding, next to at least one
 * other subprotocol, which it selects in its reply.
 */
function websocketBearer(exchange: Exchange): string | typeof MALFORMED | undefined {
  if (!exchange.upgrade || headerValue(exchange.headers, 'upgrade')?.toLowerCase() !== 'websocket') return undefined;
  const { encoded, others, isAmbiguous } = bearerProtocols(exchange);
  if (isAmbiguous) return MALFORMED;
  if (encoded.length === 0) return undefined;
  const [text] = encoded;
  if (encoded.length > 1 || !/^[\w-]*$/.test(text!) || text!.length % 4 === 1) return MALFORMED;
  if (text === '') return undefined;
  const token = decoded(text!);
  return others > 0 && isUtf8(token) ? token.toString() : MALFORMED;
}

interface BearerProtocols {
  readonly encoded: readonly string[];
  readonly others: number;
  /** A token follows octets that Go may take for blanks. */
  readonly isAmbiguous: boolean;
}

function bearerProtocols({ headers }: Exchange): BearerProtocols {
  const encoded: string[] = [];
  let others = 0;
  let isAmbiguous = false;
  for (const value of headerValues(headers, 'sec-websocket-protocol')) {
    isAmbiguous ||= value.includes(WEBSOCKET_BEARER) && !isAscii(value);
    for (const part of value.split(',')) {
      const protocol = part.trim();
      if (protocol.startsWith(WEBSOCKET_BEARER)) encoded.push(protocol.slice(WEBSOCKET_BEARER.length));
      else others++;
    }
  }
  return { encoded, others, isAmbiguous };
}

function decoded(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
