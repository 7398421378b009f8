import type { Authenticate } from '../../http/authenticate.js';
import { bearerTokens } from '../../http/bearer.js';
import type { Exchange } from '../../http/exchange.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import { StatusError } from '../../kube/status-error.js';
import { ANONYMOUS_USER, type User } from '../contracts/user.js';
import { type TokenAuthenticator, withAuthenticated } from './token-authenticator.js';
import { TokenError } from './token-error.js';

/** Returns the established user, else that of the token, else the anonymous one. Throws 401. */
export function requestUser(exchange: Exchange, tokens: TokenAuthenticator): User {
  const { identity } = exchange;
  if (identity.kind === 'established') return withAuthenticated(userOf(identity));
  return tokenUser(exchange, tokens) ?? ANONYMOUS_USER;
}

/**
 * Adds bearer tokens to the authentication by connection: a caller with a known token is
 * established from the first filter on, and for peers too.
 */
export function withTokens(fromConnection: Authenticate, tokens: TokenAuthenticator): Authenticate {
  return (exchange) => {
    const found = fromConnection(exchange);
    if (found.identity.kind === 'established') return found;
    const user = tokenUser(exchange, tokens);
    return user ? { ...found, identity: identityOf(user) } : found;
  };
}

/** Returns the user of the first valid bearer token; undefined without one. Throws 401. */
function tokenUser(exchange: Exchange, authenticator: TokenAuthenticator): User | undefined {
  const { tokens, malformed } = bearerTokens(exchange);
  for (const token of tokens) {
    try {
      return authenticator.authenticate(token).user;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
  }
  if (tokens.length > 0 || malformed) throw new StatusError('Unauthorized', 'Unauthorized');
  return undefined;
}

function identityOf({ name, uid, groups, extra }: User): EstablishedIdentity {
  return { kind: 'established', user: name, uid, groups, extra };
}

function userOf({ user, uid, groups, extra }: EstablishedIdentity): User {
  return { name: user, uid, groups, extra };
}
