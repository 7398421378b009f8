import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type User } from '../contracts/user.js';
import type { ServiceAccountTokens } from './service-account-tokens.js';
import { commonAudiences, type TokenAnswer, TokenError } from './token-error.js';
import { tokenHash } from './token-hash.js';

export interface TokenAuthenticatorOptions {
  readonly apiAudiences: readonly string[];
  /** Users of a token file, by token. */
  readonly staticTokens?: ReadonlyMap<string, User>;
  readonly serviceAccounts?: ServiceAccountTokens;
}

const INVALID_TOKEN = 'invalid bearer token';

/** Maps bearer tokens to users. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  /** By hash: the time of a look-up by token would leak how much of a token is right. */
  readonly #staticUsers = new Map<string, User>();

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    for (const [token, user] of options.staticTokens ?? [])
      this.#staticUsers.set(tokenHash(token), withAuthenticated(user));
  }

  get apiAudiences(): readonly string[] {
    return this.#options.apiAudiences;
  }

  /** Throws TokenError with kube-apiserver's message for a review of such a token. */
  authenticate(token: string, audiences: readonly string[] = this.#options.apiAudiences): TokenAnswer {
    const answer = this.#staticAnswer(token, audiences) ?? this.#serviceAccountAnswer(token, audiences);
    if (!answer) throw new TokenError(INVALID_TOKEN);
    return { user: withAuthenticated(answer.user), audiences: answer.audiences };
  }

  /** Static tokens have the audiences of the API server. */
  #staticAnswer(token: string, audiences: readonly string[]): TokenAnswer | undefined {
    if (this.#staticUsers.size === 0) return undefined;
    const user = this.#staticUsers.get(tokenHash(token));
    if (!user) return undefined;
    const { apiAudiences } = this.#options;
    const matching = commonAudiences(apiAudiences, audiences);
    return matching.length > 0 || apiAudiences.length === 0 ? { user, audiences: matching } : undefined;
  }

  #serviceAccountAnswer(token: string, audiences: readonly string[]): TokenAnswer | undefined {
    try {
      return this.#options.serviceAccounts?.verify(token, audiences);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      throw new TokenError(`[${INVALID_TOKEN}, ${error.message}]`);
    }
  }
}

/** Adds the group of all authenticated users, except to the anonymous user. */
export function withAuthenticated(user: User): User {
  const { name, groups } = user;
  const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  return name === ANONYMOUS_USER.name || isSettled ? user : { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}
