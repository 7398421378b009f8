import { isPending } from '../../base/pending.js';
import { FairLimiter, type FairLimiterOptions } from '../../http/fair-limiter.js';
import { flowOf } from '../../http/identity.js';
import type { MakeOutgoingHeaders } from '../identity/outgoing-headers.js';
import { attempt } from './attempt.js';
import type { Dispatch } from './reroute.js';
import { isContinuable, withoutCompression } from './watch-request.js';

export interface PeerDispatchOptions {
  readonly outgoingHeaders: MakeOutgoingHeaders;
  readonly headTimeoutMs: number;
  /** Bounds for each peer by itself. */
  readonly limits: FairLimiterOptions;
}

/** More peers than a control plane can have; a limiter of one that is long gone is dropped first. */
const LIMITERS_MAX = 256;

/** Sends an exchange to a peer: in the caller's name, marked as carried, with a bound on what one peer gets at once. */
export function createPeerDispatch({ outgoingHeaders, headTimeoutMs, limits }: PeerDispatchOptions): Dispatch {
  const limiters = new Map<string, FairLimiter>();

  function limiterOf(identity: string): FairLimiter {
    let limiter = limiters.get(identity);
    if (!limiter) {
      limiter = new FairLimiter(limits);
      limiters.set(identity, limiter);
      if (limiters.size > LIMITERS_MAX) limiters.delete(limiters.keys().next().value!);
    }
    return limiter;
  }

  return async ({ peer, endpoint }, exchange) => {
    const { headers, lane } = outgoingHeaders(exchange, { kind: endpoint.kind, rerouted: true });
    const leaving = { headers: isContinuable(exchange) ? withoutCompression(headers) : headers, lane };
    const place = limiterOf(peer.identity).acquire(flowOf(exchange.identity), exchange);
    const release = isPending(place) ? await place : place;
    try {
      return await attempt(exchange, { destination: endpoint.destination, leaving, headTimeoutMs });
    } finally {
      // With the answer's head there a watch streams on without holding a place.
      release();
    }
  };
}
