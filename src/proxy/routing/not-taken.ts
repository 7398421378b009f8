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
