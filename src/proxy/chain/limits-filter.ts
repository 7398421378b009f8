import type { Exchange, Filter, Reply } from '../../http/exchange.js';
import { Holding, type SharedLimits } from '../../http/holding.js';
import { flowOf } from '../../http/identity.js';

export interface LimitsOptions extends SharedLimits {
  /** Whether a request is one that another server of the control plane makes for itself. */
  readonly isPeersOwn: (exchange: Exchange) => boolean;
  /** Learns from a reply whether a server accepts the credential that a request carries. */
  readonly judge: (exchange: Exchange, reply: Reply) => boolean;
}

/**
 * Bounds what requests hold at once, fairly between callers. A request holds its place in flight until its reply has been
 * sent, except while its client is waited for; a long-running one leaves its place when its reply begins.
 */
export function limitsFilter(options: LimitsOptions): Filter {
  const { places, peerPlaces, longRunning, memory, isPeersOwn, judge } = options;
  return {
    name: 'limits',
    wrap: (next) => async (exchange) => {
      const { identity, connection, info } = exchange;
      const isPeer = isPeersOwn(exchange);
      const holding = new Holding(exchange, flowOf(identity), { places: isPeer ? peerPlaces : places, memory });
      exchange.holding = holding;
      const waiting = holding.enter();
      if (waiting) await waiting;
      try {
        if (info.longRunning) await holding.hold(longRunning);
        const reply = await next(exchange);
        if (info.longRunning || reply.upgraded) holding.leave();
        if (identity.kind === 'established' || judge(exchange, reply)) connection.authenticated = true;
        return reply;
      } catch (error) {
        // A refusal is short: sending it needs no place.
        holding.leave();
        throw error;
      }
    },
  };
}
