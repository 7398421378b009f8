import { unlessDraining } from '../../core/draining-answer.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { takeBody } from '../../http/gather-body.js';
import type { RawHeaders } from '../../http/headers.js';
import type { Destination, Lane, OutgoingRequest } from '../../http/outgoing.js';

export interface AttemptOptions {
  readonly destination: Destination;
  /** What the request leaves with, and on which lane. */
  readonly leaving: { readonly headers: RawHeaders; readonly lane: Lane };
  /** For requests that are not long-running. */
  readonly headTimeoutMs: number;
}

/** Sends an exchange to one server, once. Rejects with AttemptError; the caller's leaving ends it. */
export function attempt(exchange: Exchange, options: AttemptOptions): Promise<Reply> {
  const { destination, leaving, headTimeoutMs } = options;
  const request: OutgoingRequest = {
    method: exchange.method,
    target: exchange.target,
    headers: leaving.headers,
    body: takeBody(exchange),
    lane: leaving.lane,
    isWatch: exchange.info.verb === 'watch',
    headTimeoutMs: exchange.info.longRunning ? 0 : headTimeoutMs,
    onAbort: (listener) => exchange.onAbort(listener),
  };
  const begunAt = performance.now();
  const sent = exchange.upgrade ? destination.upgrade(request) : destination.send(request);
  // Not awaited: every request passes here, and a function that only waits costs it memory and time.
  return sent.then(
    (reply) => {
      exchange.awaitedMs += performance.now() - begunAt;
      return unlessDraining(reply, exchange, destination.address);
    },
    (error: unknown) => {
      exchange.awaitedMs += performance.now() - begunAt;
      throw error;
    },
  );
}
