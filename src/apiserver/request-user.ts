import type { Exchange } from '../http/exchange.js';
import { headerValue } from '../http/headers.js';
import type { EstablishedIdentity } from '../http/identity.js';
import { StatusError } from '../kube/status-error.js';
import { bearerToken, type TokenAuthenticator, withAuthenticated } from './authentication/token-authenticator.js';
import { TokenError } from './authentication/token-error.js';
import { ANONYMOUS_USER, type User } from './contracts/user.js';

/** Who asks: whom the chain has established, or whom the bearer token stands for, or nobody. Throws Unauthorized. */
export function requestUser(exchange: Exchange, tokens: TokenAuthenticator): User {
  const { identity } = exchange;
  if (identity.kind === 'established') return withAuthenticated(userOf(identity));
  const token = bearerToken(headerValue(exchange.headers, 'authorization'));
  if (token === undefined) return ANONYMOUS_USER;
  try {
    return tokens.authenticate(token).user;
  } catch (error) {
    if (error instanceof TokenError) throw new StatusError('Unauthorized', 'Unauthorized');
    throw error;
  }
}

/** The same, as the chain keeps it. */
export function identityOf({ name, uid, groups, extra }: User): EstablishedIdentity {
  return { kind: 'established', user: name, uid, groups, extra };
}

function userOf({ user, uid, groups, extra }: EstablishedIdentity): User {
  return { name: user, uid, groups, extra };
}
