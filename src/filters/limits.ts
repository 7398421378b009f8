import type { Filter } from '../core/exchange.js';
import type { FairLimiter } from '../core/fair-limiter.js';
import { flowOf } from '../core/identity.js';

/**
 * Bounds the requests in flight, fairly between callers. A request holds its place until its answer's head is there: a
 * watch gives it back once it streams, and a large list is held back by its reader, not by us.
 */
export function limitsFilter(limiter: FairLimiter): Filter {
  return {
    name: 'limits',
    wrap: (next) => async (exchange) => {
      const place = limiter.acquire(flowOf(exchange.identity), (listener) => exchange.onAbort(listener));
      const release = typeof place === 'function' ? place : await place;
      try {
        return await next(exchange);
      } finally {
        release();
      }
    },
  };
}
