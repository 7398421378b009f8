import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import { headListBytesMax } from '../../http/headers.js';
import { Holding, type SharedLimits } from '../../http/holding.js';
import { flowOf } from '../../http/identity.js';

export interface LimitsOptions extends SharedLimits {
  /** Bounds on the heads of unauthenticated clients. Larger ones are held memory. */
  readonly usualHead: { readonly headerBytesMax: number; readonly headersCountMax: number };
  /** Returns whether another server of the control plane sent the request on its own behalf. */
  readonly isFromPeerStraddle: (exchange: Exchange) => boolean;
  /** Records whether a server accepted the request's credential, by its reply, and returns that. */
  readonly judge: (exchange: Exchange, reply: Reply) => boolean;
}

/**
 * Bounds the resources that requests hold at once, fairly between callers. A request holds its
 * place in flight until its reply has been sent, except while it waits for its client; a
 * long-running one gives up its place, and the memory of a large head, when its reply begins.
 */
export function limitsFilter(options: LimitsOptions): Filter {
  const { places, peerPlaces, longRunning, memory, isFromPeerStraddle, judge, usualHead } = options;
  const usualHeadBytesMax = headListBytesMax(usualHead);
  return {
    name: 'limits',
    wrap: (next) => async (exchange) => {
      const { identity, connection, info } = exchange;
      const isPeer = isFromPeerStraddle(exchange);
      const holding = new Holding(exchange, flowOf(identity), { places: isPeer ? peerPlaces : places, memory });
      exchange.holding = holding;
      const waiting = holding.enter();
      if (waiting) await waiting;
      try {
        if (exchange.headBytes > usualHeadBytesMax) await holding.reserveHead(exchange.headBytes);
        if (info.longRunning) await holding.hold(longRunning);
        const reply = await next(exchange);
        if (info.longRunning || reply.upgraded) holding.stream();
        if (identity.kind === 'established' || judge(exchange, reply)) connection.authenticated = true;
        return reply;
      } catch (error) {
        // An error reply is short and needs no place.
        holding.leave();
        throw error;
      }
    },
  };
}
