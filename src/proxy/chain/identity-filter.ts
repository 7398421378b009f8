import type { Filter } from '../../http/exchange.js';
import type { Authenticate } from '../identity/authenticate.js';

/** Establishes who asks. What a client claims without being a front proxy ends here. */
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
