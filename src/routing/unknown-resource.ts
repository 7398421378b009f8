import { AttemptError } from '../core/host.js';
import { readBody } from '../http/body-stream.js';
import type { Exchange, Reply } from '../http/exchange.js';
import { headerValue } from '../http/headers.js';
import { isProxied } from '../kube/request-info.js';

/**
 * Whether a server's answer means "I do not serve this resource at all", as against "there is no such object". An API
 * server answers a path that nothing is registered for with a plain-text 404, and a missing object with a Status. Within
 * groups that it knows it has a Status for both, told apart by the message where the answer is at hand. What comes through
 * a `proxy` is the word of whatever runs in the pod and says nothing about the API server.
 */
export function saysUnknownResource({ info }: Exchange, reply: Reply): boolean {
  if (reply.status !== 404 || !info.isResource || isProxied(info)) return false;
  if (headerValue(reply.headers, 'content-type')?.startsWith('text/plain')) return true;
  // An object that is missing is named in the answer, and may be named like this.
  if (!(reply.body instanceof Uint8Array) || info.path.includes(NO_SUCH_RESOURCE)) return false;
  return Buffer.from(reply.body).includes(NO_SUCH_RESOURCE);
}

const NO_SUCH_RESOURCE = 'the server could not find the requested resource';
/** Statuses that say no more than that have some 200 bytes. */
const REFUSAL_BYTES_MAX = 4_096;

/** A short 404 with its whole body, so that it can be told what it is that is unknown; any other answer as it came. */
export function refusalAtHand({ info }: Exchange, reply: Reply): Reply | Promise<Reply> {
  if (reply.status !== 404 || !info.isResource || reply.body === null || reply.body instanceof Uint8Array) return reply;
  // Without a length it is not known to be short.
  const isShort = Number(headerValue(reply.headers, 'content-length') ?? Number.NaN) <= REFUSAL_BYTES_MAX;
  return isShort ? withWholeBody(reply) : reply;
}

async function withWholeBody(reply: Reply): Promise<Reply> {
  try {
    return { ...reply, body: await readBody(reply.body, REFUSAL_BYTES_MAX) };
  } catch (error) {
    throw new AttemptError('maybe', 'reset', 'the answer broke off', error);
  }
}

/** Frees the connection of a reply that nobody will read. */
export function discard(reply: Reply): void {
  if (reply.body && !(reply.body instanceof Uint8Array)) reply.body.cancel(new Error('answer not used'));
  reply.upgraded?.socket.destroy();
}
