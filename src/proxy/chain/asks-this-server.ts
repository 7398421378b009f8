import type { Exchange } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';

/**
 * Returns whether a request is about this server alone, as its peers, `straddle status` and `straddle check` ask. A Straddle without a
 * front-proxy certificate and a person cannot prove the mark, and nothing is gained by a forged one: only for documents about the server
 * itself.
 */
export function asksThisServer({ peerProxied, headers }: Exchange): boolean {
  return peerProxied || headerValue(headers, 'x-kubernetes-peer-proxied') === 'true';
}
