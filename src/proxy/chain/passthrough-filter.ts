import type { Filter, Handler } from '../../http/exchange.js';
import type { Passthrough } from '../passthrough/passthrough.js';

export interface PassthroughFilterOptions {
  readonly passthrough: Pick<Passthrough, 'state'>;
  /** Sends a request to the local server, and to no other. */
  readonly local: Handler;
}

/**
 * Sends every request to the local server while passthrough is on, past the filters for merged documents and past routing:
 * the switch has to help where these are at fault. A request that a peer rerouted here passes on, because routing serves it
 * locally as well and gives the peer the reply that a server without the resource owes it.
 */
export function passthroughFilter({ passthrough, local }: PassthroughFilterOptions): Filter {
  return {
    name: 'passthrough',
    wrap: (next) => (exchange) => (passthrough.state.on && !exchange.peerProxied ? local(exchange) : next(exchange)),
  };
}
