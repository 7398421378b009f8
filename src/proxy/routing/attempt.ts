import type { Clock } from '../../base/clock.js';
import { isPending } from '../../base/pending.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { takeBody } from '../../http/gather-body.js';
import type { RawHeaders } from '../../http/headers.js';
import type { Destination, Lane, OutgoingRequest } from '../../http/outgoing.js';
import { mayMoveOnAfter } from '../../http/send-again.js';
import { classifyReply, throwIfNotTaken, withRefusalRead } from './classify-reply.js';

export interface AttemptOptions {
  readonly destination: Destination;
  /** Headers of the outgoing request, and its lane. */
  readonly leaving: { readonly headers: RawHeaders; readonly lane: Lane };
  /** For requests that are not long-running. */
  readonly headTimeoutMs: number;
  /** Returns whether another server could take the exchange now; without it, the exchange does not wait for a server that hangs. */
  readonly hasAlternative?: ((exchange: Exchange) => boolean) | undefined;
  readonly clock: Clock;
}

/** Sends an exchange to one server, once. Rejects with AttemptError, also after an abort. */
export function attempt(exchange: Exchange, options: AttemptOptions): Promise<Reply> {
  const { destination, leaving, headTimeoutMs, hasAlternative, clock } = options;
  const timeoutMs = exchange.info.longRunning ? 0 : headTimeoutMs;
  const request: OutgoingRequest = {
    method: exchange.method,
    target: exchange.target,
    headers: leaving.headers,
    body: takeBody(exchange),
    lane: leaving.lane,
    isWatch: exchange.info.verb === 'watch',
    headTimeoutMs: timeoutMs,
    onAbort: (listener) => exchange.onAbort(listener),
    // A request without a timeout of its own could wait for ever.
    hasAlternative:
      timeoutMs > 0 && hasAlternative
        ? (begun) => mayMoveOnAfter(exchange, begun ? 'maybe' : 'unsent') && hasAlternative(exchange)
        : undefined,
  };
  const begunAt = performance.now();
  const sent = exchange.upgrade ? destination.upgrade(request) : destination.send(request);
  // Not awaited: an async function would cost every request memory and time.
  return sent.then(
    (reply) => {
      exchange.awaitedMs += performance.now() - begunAt;
      const read = withRefusalRead(exchange, reply, clock);
      return isPending(read)
        ? read.then((each) => unlessDraining(exchange, each, destination))
        : unlessDraining(exchange, read, destination);
    },
    (error: unknown) => {
      exchange.awaitedMs += performance.now() - begunAt;
      throw error;
    },
  );
}

/** Returns a reply unless the server refused the request because it is shutting down. */
function unlessDraining(exchange: Exchange, reply: Reply, { address }: Destination): Reply {
  // The marks of a Straddle are read by the rerouter, which knows that it sent the request to one.
  throwIfNotTaken(classifyReply(exchange, reply, 'kube-apiserver'), address);
  return reply;
}
