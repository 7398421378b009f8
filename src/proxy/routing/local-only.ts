import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange, Handler } from '../../http/exchange.js';
import { gatherSmallBody } from '../../http/gather-body.js';
import { mayMoveOn } from '../../http/send-again.js';
import { unavailable } from './reroute.js';
import type { LocalHost } from './router.js';

const WHY = 'passthrough is on';

/**
 * Makes a handler that passes requests to the local server and its replies back, whatever the replies are. Surfaces, peers and
 * readiness are not consulted, because their state may be the reason for the switch; so a server that starts gets requests
 * too, as it would without a proxy. Throws 503 if the server cannot be reached.
 */
export function createLocalOnly(host: Pick<LocalHost, 'handle' | 'readsBodies'>): Handler {
  return async (exchange) => {
    if (exchange.body && !host.readsBodies) await gatherSmallBody(exchange);
    exchange.routed = { to: 'local', why: WHY };
    try {
      return await host.handle(exchange);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      if (!maySendAgain(exchange, error)) throw unavailable(exchange, [], [error.message]);
    }
    try {
      return await host.handle(exchange);
    } catch (error) {
      throw error instanceof AttemptError ? unavailable(exchange, [], [error.message]) : error;
    }
  };
}

/** The server may only have closed an idle connection, and still take requests. One that hangs would hang again. */
function maySendAgain(exchange: Exchange, error: AttemptError): boolean {
  if (exchange.aborted || error.type === 'timeout' || error.type === 'hang') return false;
  return mayMoveOn(exchange, error);
}
