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

/** Above the number of peers in a control plane; the oldest limiter is dropped. */
const LIMITERS_MAX = 256;

/** Sends exchanges to peers as their callers, marked as rerouted, within a limit for each peer. */
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
      const { clock } = limits;
      return await attempt(exchange, { destination: endpoint.destination, leaving, headTimeoutMs, clock });
    } finally {
      // After the head of its reply a watch continues without a place.
      release();
    }
  };
}
