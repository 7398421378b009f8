import { isPending } from '../../base/pending.js';
import type { Exchange } from '../../http/exchange.js';
import { FairLimiter, type FairLimiterOptions } from '../../http/fair-limiter.js';
import { flowOf } from '../../http/identity.js';
import type { MakeOutgoingHeaders } from '../identity/outgoing-headers.js';
import type { Peer } from '../peers/peer-table.js';
import { attempt } from './attempt.js';
import type { Dispatch } from './reroute.js';
import { isContinuable, withoutCompression } from './watch-request.js';

export interface PeerDispatchOptions {
  readonly outgoingHeaders: MakeOutgoingHeaders;
  readonly headTimeoutMs: number;
  /** Returns whether another server than a peer that hangs could take an exchange now. */
  readonly hasAlternative: (exchange: Exchange, peer: Peer) => boolean;
  /** Bounds for each peer by itself. */
  readonly limits: FairLimiterOptions;
}

/** Above the number of peers in a control plane; the oldest limiter is dropped. */
const LIMITERS_MAX = 256;

/** Sends exchanges to peers as their callers, marked as rerouted, within a limit for each peer. */
export function createPeerDispatch(options: PeerDispatchOptions): Dispatch {
  const { outgoingHeaders, headTimeoutMs, limits } = options;
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
      const hasAlternative = (each: Exchange) => options.hasAlternative(each, peer);
      const { destination } = endpoint;
      return await attempt(exchange, { destination, leaving, headTimeoutMs, hasAlternative, clock });
    } finally {
      // After the head of its reply a watch continues without a place.
      release();
    }
  };
}
