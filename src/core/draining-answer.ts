import { readBody } from './body-stream.js';
import type { Exchange, Reply } from './exchange.js';
import { headerValue } from './headers.js';
import { AttemptError } from './host.js';
import { isProxied } from './request-info.js';

/** The refusal is one short sentence; anything longer is some other 503. */
const REFUSAL_BYTES_MAX = 1024;

/**
 * Gives back a server's answer, unless it says "I am shutting down": a kube-apiserver on its way down refuses requests
 * before it looks at them, so they may go elsewhere whatever they are. That refusal is thrown as an AttemptError. It is
 * a 503 (a Status), or with --shutdown-send-retry-after a 429 (plain text), told from any other by its form (short,
 * with Retry-After) and its words.
 */
export function unlessDraining(reply: Reply, exchange: Exchange, address: string): Reply | Promise<Reply> {
  if (reply.status !== 503 && reply.status !== 429) return reply;
  return isProxied(exchange.info) || !looksLikeRefusal(reply) ? reply : readRefusal(reply, address);
}

async function readRefusal(reply: Reply, address: string): Promise<Reply> {
  const body = await readBody(reply.body, REFUSAL_BYTES_MAX);
  if (!/apiserver is shutting down/i.test(body.toString('latin1'))) return { ...reply, body };
  throw new AttemptError('unsent', 'draining', `${address}: the server is shutting down`);
}

function looksLikeRefusal({ headers }: Reply): boolean {
  const lengthBytes = Number(headerValue(headers, 'content-length'));
  return lengthBytes > 0 && lengthBytes <= REFUSAL_BYTES_MAX && headerValue(headers, 'retry-after') !== undefined;
}
