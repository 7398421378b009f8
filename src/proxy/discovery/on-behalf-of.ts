import { speaksForCaller } from '../../http/caller-headers.js';
import { type DerivedRequest, deriveExchange } from '../../http/derive-exchange.js';
import type { Exchange } from '../../http/exchange.js';
import { filterHeaders, type RawHeaders } from '../../http/headers.js';

/** `headers` are added to those that identify the caller. Without `method` it is the caller's. */
export type RequestOnBehalf = Pick<DerivedRequest, 'method' | 'body' | 'nowMs'> & {
  readonly target: string;
  readonly headers: RawHeaders;
};

/**
 * Makes a request of Straddle's own in a caller's name: with the caller's identity, credentials and impersonation, and
 * nothing else of what the caller sent. It is not tied to the caller's connection, because others may wait for it too.
 * The method stays the caller's by default, because HEAD and GET are different verbs to authorization.
 */
export function onBehalfOf(exchange: Exchange, request: RequestOnBehalf): Exchange {
  const headers = [...filterHeaders(exchange.headers, speaksForCaller), ...request.headers];
  return deriveExchange(exchange, { ...request, headers });
}
