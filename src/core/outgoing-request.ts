import type { Exchange } from './exchange.js';
import { takeBody } from './gather-body.js';
import type { RawHeaders } from './headers.js';
import type { Lane, OutgoingRequest } from './outgoing.js';

/** An exchange as one attempt to send it. The caller's leaving ends the attempt. */
export function outgoingRequest(
  exchange: Exchange,
  { headers, lane }: { readonly headers: RawHeaders; readonly lane: Lane },
  headTimeoutMs: number,
): OutgoingRequest {
  return {
    method: exchange.method,
    target: exchange.target,
    headers,
    body: takeBody(exchange),
    lane,
    headTimeoutMs: exchange.info.longRunning ? 0 : headTimeoutMs,
    onAbort: (listener) => exchange.onAbort(listener),
  };
}
