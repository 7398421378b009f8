import type { Exchange } from '../http/exchange.js';
import { headerValue, headerValues } from '../http/headers.js';

const WEBSOCKET_BEARER = 'base64url.bearer.authorization.k8s.io.';

/** The bearer token that a request carries; undefined without one. */
export function bearerCredential(exchange: Exchange): string | undefined {
  const authorization = headerValue(exchange.headers, 'authorization');
  const token = authorization === undefined ? undefined : authorizationBearer(authorization);
  return token ?? websocketBearer(exchange);
}

/** A second, different token: kube-apiserver tries it where it does not know the first. */
export function hasSecondBearer(exchange: Exchange): boolean {
  const second = websocketBearer(exchange);
  return second !== undefined && second !== bearerCredential(exchange);
}

/**
 * The scheme in any case, one space, and the token: kube-apiserver takes no token after two spaces, and ignores anything
 * that follows it.
 */
function authorizationBearer(authorization: string): string | undefined {
  return /^\s*bearer ([^ ]+)/i.exec(authorization)?.[1]?.trimEnd();
}

/** Browsers can't set `Authorization` on a WebSocket, so Kubernetes also takes the token as a subprotocol there. */
function websocketBearer(exchange: Exchange): string | undefined {
  if (!exchange.upgrade) return undefined;
  for (const value of headerValues(exchange.headers, 'sec-websocket-protocol')) {
    for (const part of value.split(',')) {
      const protocol = part.trim();
      if (protocol.length > WEBSOCKET_BEARER.length && protocol.startsWith(WEBSOCKET_BEARER)) {
        return Buffer.from(protocol.slice(WEBSOCKET_BEARER.length), 'base64url').toString();
      }
    }
  }
  return undefined;
}
