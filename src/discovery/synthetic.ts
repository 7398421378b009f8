import { Exchange } from '../http/exchange.js';
import { filterHeaders, type RawHeaders } from '../http/headers.js';
import { parseRequestInfo } from '../kube/request-info.js';

/**
 * A request of Straddle's own making in a caller's name: the caller's identity, credentials and impersonation, and
 * nothing else of what the caller sent. It is not tied to the caller's connection, because others may wait for it too.
 */
export function onBehalfOf(
  exchange: Exchange,
  request: { readonly target: string; readonly headers: RawHeaders; readonly nowMs: number },
): Exchange {
  const synthetic = new Exchange(
    {
      // HEAD and GET are different verbs to authorization.
      method: exchange.method,
      target: request.target,
      headers: [...filterHeaders(exchange.headers, speaksForCaller), ...request.headers],
      body: null,
      connection: exchange.connection,
    },
    request.nowMs,
  );
  synthetic.info = parseRequestInfo(synthetic.method, synthetic.target) ?? synthetic.info;
  synthetic.identity = exchange.identity;
  return synthetic;
}

/** Fields that decide who asks. */
export function speaksForCaller(lowerName: string): boolean {
  return isCredential(lowerName) || lowerName.startsWith('impersonate-') || lowerName === 'user-agent';
}

export function isCredential(lowerName: string): boolean {
  return lowerName === 'authorization' || lowerName === 'cookie';
}
