import type { Logger } from '../../base/logger.js';
import type { Filter } from '../../http/exchange.js';
import { statusReply } from '../../http/status-reply.js';
import { StatusError } from '../../kube/status-error.js';

/** Turns every error of later filters into a Status reply. */
export function errorsFilter(logger: Logger): Filter {
  return {
    name: 'errors',
    wrap: (next) => async (exchange) => {
      try {
        return await next(exchange);
      } catch (error) {
        if (error instanceof StatusError) return statusReply(error, exchange);
        // After an abort there is no reader, and the abort may be the cause of the error.
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
