import { speaksForCaller } from '../../http/caller-headers.js';
import { type DerivedRequest, deriveExchange } from '../../http/derive-exchange.js';
import type { Exchange } from '../../http/exchange.js';
import { filterHeaders, type RawHeaders } from '../../http/headers.js';

/** `headers` are added to those that identify the caller. The default method is the caller's. */
export type RequestOnBehalf = Pick<DerivedRequest, 'method' | 'body' | 'nowMs'> & {
  readonly target: string;
  readonly headers: RawHeaders;
};

/**
 * Makes a request of Straddle in a caller's name: with the caller's identity, credentials and
 * impersonation, and no other header of the caller. It does not end with the caller's connection,
 * because other callers may wait for it too. The default method is the caller's, because HEAD and
 * GET are different verbs for authorization.
 */
export function onBehalfOf(exchange: Exchange, request: RequestOnBehalf): Exchange {
  const headers = [...filterHeaders(exchange.headers, speaksForCaller), ...request.headers];
  return deriveExchange(exchange, { ...request, headers });
}
