import type { Logger } from '../../base/logger.js';
import type { Filter } from '../../http/exchange.js';
import { statusReply } from '../../http/status-reply.js';
import { StatusError } from '../../kube/status-error.js';

/** Every failure leaves as a Status, once, here. */
export function errorsFilter(logger: Logger): Filter {
  return {
    name: 'errors',
    wrap: (next) => async (exchange) => {
      try {
        return await next(exchange);
      } catch (error) {
        if (error instanceof StatusError) return statusReply(error, exchange);
        // The client left; nobody reads this answer, and it is no fault of ours.
        if (!exchange.aborted)
          logger.error('unexpected error', { error, stack: stackOf(error), target: exchange.target });
        return statusReply(
          new StatusError('InternalError', 'an error on the server prevented the request from succeeding'),
          exchange,
        );
      }
    },
  };
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
