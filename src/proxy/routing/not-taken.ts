import type { Reply } from '../../http/exchange.js';
import { filterHeaders, headerValue } from '../../http/headers.js';
import type { StatusError } from '../../kube/status-error.js';

/**
 * Why a Straddle answers 503 in place of its server to a request that a peer has carried there:
 * - `true`: its server is down and has seen nothing of the request;
 * - `maybe`: its server did not answer, and may have processed the request;
 * - `unknown`: its server does not serve the resource.
 *
 * Any other 503 is the answer of a server. classify-reply.ts reads the mark.
 */
export type NotTaken = 'true' | 'maybe' | 'unknown';

/** Header field with the reason. */
export const NOT_TAKEN = 'X-Straddle-Not-Taken';

/** Adds the reason to the refusal that the peer gets. */
export function markNotTaken(error: StatusError, why: NotTaken): StatusError {
  error.headers = [...error.headers, NOT_TAKEN, why];
  return error;
}

/**
 * Returns a reply of the local server without the mark. A server behind this Straddle, such as an
 * aggregated API server, must not make peers send a request again.
 */
export function withoutNotTaken(reply: Reply): Reply {
  const field = NOT_TAKEN.toLowerCase();
  if (reply.status !== 503 || headerValue(reply.headers, field) === undefined) return reply;
  return { ...reply, headers: filterHeaders(reply.headers, (name) => name !== field) };
}
