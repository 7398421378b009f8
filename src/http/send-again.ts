import type { AttemptError } from './attempt-error.js';
import type { Exchange } from './exchange.js';

/**
 * Returns whether a request may be sent to another server after a failed attempt: the server cannot
 * have processed it, or processing it twice does no harm; and its body can still be sent.
 */
export function mayMoveOn(exchange: Exchange, error: AttemptError): boolean {
  return mayMoveOnAfter(exchange, error.processed);
}

/** The same of an attempt that has not failed yet. */
export function mayMoveOnAfter(exchange: Exchange, processed: AttemptError['processed']): boolean {
  return canSendAgain(exchange) && (processed === 'unsent' || isSafe(exchange));
}

/** Returns whether the body can still be sent: a streamed body until a byte of it was read. */
export function canSendAgain(exchange: Exchange): boolean {
  const { body } = exchange;
  if (body === null || exchange.gatheredBody !== undefined || !exchange.bodyTouched) return true;
  return !body.readableDidRead && !body.destroyed;
}

/** Returns whether a method is safe. A GET with an upgrade may be an exec, which cannot repeat. */
function isSafe({ method, upgrade }: Exchange): boolean {
  if (upgrade) return false;
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
