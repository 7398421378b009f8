import { encodeStatus } from '../api/status-encoding.js';
import type { Exchange, Filter, Reply } from '../core/exchange.js';
import { headerValue } from '../core/headers.js';
import { StatusError } from '../core/status-error.js';
import type { Logger } from '../observe/logger.js';

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

export function statusReply(error: StatusError, exchange: Exchange): Reply {
  const { contentType, bytes } = encodeStatus(error.status, headerValue(exchange.headers, 'accept'));
  const headers = [
    'Content-Type',
    contentType,
    'Content-Length',
    String(bytes.byteLength),
    'Cache-Control',
    'no-cache, private',
    ...error.headers,
  ];
  if (error.retryAfterSeconds !== undefined) headers.push('Retry-After', String(error.retryAfterSeconds));
  if (error.status.code === 401) headers.push('WWW-Authenticate', 'Bearer realm="kubernetes"');
  return { status: error.status.code, headers, body: exchange.method === 'HEAD' ? null : bytes };
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
