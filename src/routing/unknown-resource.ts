import type { Exchange, Reply } from '../core/exchange.js';
import { headerValue } from '../core/headers.js';
import { isProxied } from '../core/request-info.js';

/**
 * Whether a server's answer means "I do not serve this resource at all", as against "there is no such object". An API
 * server answers a path that nothing is registered for with a plain-text 404, and a missing object with a Status. What
 * comes through a `proxy` is the word of whatever runs in the pod and says nothing about the API server.
 */
export function saysUnknownResource({ info }: Exchange, reply: Reply): boolean {
  if (reply.status !== 404 || !info.isResource || isProxied(info)) return false;
  return headerValue(reply.headers, 'content-type')?.startsWith('text/plain') ?? false;
}

/** Frees the connection of a reply that nobody will read. */
export function discard(reply: Reply): void {
  if (reply.body && !(reply.body instanceof Uint8Array)) reply.body.cancel(new Error('answer not used'));
  reply.upgraded?.socket.destroy();
}
