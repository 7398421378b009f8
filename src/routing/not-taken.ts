import type { Exchange, Reply } from '../http/exchange.js';
import { headerValue } from '../http/headers.js';
import type { StatusError } from '../kube/status-error.js';

/**
 * With it a Straddle tells the one that sent it a request that its server is down and has seen nothing of the request.
 * Any other 503 comes from a server, which may have begun with it.
 */
const NOT_TAKEN = 'X-Straddle-Not-Taken';

export function markNotTaken(error: StatusError): StatusError {
  error.headers = [...error.headers, NOT_TAKEN, 'true'];
  return error;
}

/** To be asked only of answers that came from a Straddle. */
export function saysNotTaken({ info }: Exchange, reply: Reply): boolean {
  if (reply.status !== 503 || headerValue(reply.headers, NOT_TAKEN.toLowerCase()) !== 'true') return false;
  // What comes through a `proxy` is the word of whatever runs in the pod.
  return info.subresource !== 'proxy' && info.verb !== 'proxy';
}
