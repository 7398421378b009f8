import type { ApiCall } from './api-call.js';

/** Smaller replies are bounded by the number of requests in flight. */
const UNRESERVED_BYTES_MAX = 64 * 1024;

/**
 * Reserves memory for a reply from the caller's share until the reply has been sent; returns a promise
 * only if the reservation must wait. Throws or rejects with StatusError (TooManyRequests), except for
 * writes: they are stored by now, and a refusal would say the opposite.
 */
export function reserveReply({ exchange }: Pick<ApiCall, 'exchange'>, bytes: number): Promise<void> | undefined {
  if (bytes <= UNRESERVED_BYTES_MAX) return undefined;
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return exchange.holding?.reserve(bytes);
  exchange.holding?.reserveAtOnce(bytes);
  return undefined;
}
