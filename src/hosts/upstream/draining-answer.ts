import { readBody } from '../../core/body-stream.js';
import type { Reply } from '../../core/exchange.js';
import { headerValue } from '../../core/headers.js';

/** The refusal is one short sentence; anything longer is some other 503. */
const REFUSAL_BYTES_MAX = 1024;

/**
 * Tells a kube-apiserver's "I am shutting down" from any other 503. It comes before the request is looked at: plain
 * text, with Retry-After, and those words. Any other answer is given back as it was.
 */
export async function drainingAnswer(reply: Reply): Promise<Reply | 'draining'> {
  const plain = headerValue(reply.headers, 'content-type')?.startsWith('text/plain') ?? false;
  const length = Number(headerValue(reply.headers, 'content-length'));
  const short = length > 0 && length <= REFUSAL_BYTES_MAX;
  if (!plain || !short || headerValue(reply.headers, 'retry-after') === undefined) return reply;
  const body = await readBody(reply.body, REFUSAL_BYTES_MAX);
  return /shutting down/i.test(body.toString('latin1')) ? 'draining' : { ...reply, body };
}
