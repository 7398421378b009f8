import { internalExchange } from './derive-exchange.js';
import type { Handler } from './exchange.js';
import type { RawHeaders } from './headers.js';
import type { EstablishedIdentity } from './identity.js';
import type { Destination, Lane, Send } from './outgoing.js';

/** Sends to another server, without a bound on the time to the head: callers have deadlines. */
export function sendTo(destination: Destination, lane: Lane, firstHeaders: () => RawHeaders): Send {
  return async (method, target, headers, body, onAbort) =>
    destination.send({
      method,
      target,
      headers: ['Host', destination.address, 'User-Agent', 'straddle', ...firstHeaders(), ...headers],
      body,
      lane,
      headTimeoutMs: 0,
      onAbort,
    });
}

export interface InProcessOptions {
  /** Called for each request: the handler may not exist yet when the sender is made. */
  readonly handler: () => Handler;
  readonly nowMs: () => number;
  readonly identity: EstablishedIdentity;
  /** Precede those of each request. */
  readonly headers: RawHeaders;
}

/** Sends to a handler of this process, without a connection. */
export function sendInProcess({ handler, nowMs, identity, headers: firstHeaders }: InProcessOptions): Send {
  return async (method, target, headers, body, onAbort) => {
    const sent = [...firstHeaders, ...headers];
    const exchange = internalExchange({ method, target, headers: sent, body, identity, nowMs: nowMs() });
    onAbort(() => exchange.abort());
    return handler()(exchange);
  };
}
