import type { Authenticate } from '../../http/authenticate.js';
import type { Filter } from '../../http/exchange.js';

/** Authenticates the caller. Identity headers of other clients than front proxies end here. */
export function identityFilter(authenticate: Authenticate): Filter {
  return {
    name: 'identity',
    wrap: (next) => (exchange) => {
      const { identity, peerProxied, trustedProxy } = authenticate(exchange);
      exchange.identity = identity;
      exchange.peerProxied = peerProxied;
      exchange.trustedProxy = trustedProxy;
      return next(exchange);
    },
  };
}
