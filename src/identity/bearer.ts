import type { Exchange } from '../core/exchange.js';
import { headerValue, headerValues } from '../core/headers.js';

const WEBSOCKET_BEARER = 'base64url.bearer.authorization.k8s.io.';

/**
 * The bearer token that a request carries, in the form it carries it; undefined without one. Browsers can't set
 * `Authorization` on a WebSocket, so Kubernetes also takes the token as a subprotocol there.
 */
export function bearerCredential(exchange: Exchange): string | undefined {
  const authorization = headerValue(exchange.headers, 'authorization');
  if (authorization !== undefined && isBearer(authorization)) return authorization;
  return exchange.upgrade ? websocketBearer(exchange) : undefined;
}

/** The scheme in any case, one space, and something: kube-apiserver takes no token after two spaces. */
function isBearer(authorization: string): boolean {
  return /^\s*bearer [^ ]/i.test(authorization);
}

function websocketBearer(exchange: Exchange): string | undefined {
  for (const value of headerValues(exchange.headers, 'sec-websocket-protocol')) {
    for (const part of value.split(',')) {
      const protocol = part.trim();
      if (protocol.length > WEBSOCKET_BEARER.length && protocol.startsWith(WEBSOCKET_BEARER)) return protocol;
    }
  }
  return undefined;
}
