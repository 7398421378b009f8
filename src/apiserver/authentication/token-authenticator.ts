import { AUTHENTICATED_GROUP, type User } from '../contracts/user.js';
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
const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

/** Says who a bearer token stands for. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  /** By a hash, so that the time of looking one up tells nothing about the tokens that there are. */
  readonly #staticUsers = new Map<string, User>();

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    for (const [token, user] of options.staticTokens ?? [])
      this.#staticUsers.set(tokenHash(token), withAuthenticated(user));
  }

  get apiAudiences(): readonly string[] {
    return this.#options.apiAudiences;
  }

  /** Throws TokenError, with the words that kube-apiserver has for a review of such a token. */
  authenticate(token: string, audiences: readonly string[] = this.#options.apiAudiences): TokenAnswer {
    const answer = this.#staticAnswer(token, audiences) ?? this.#serviceAccountAnswer(token, audiences);
    if (!answer) throw new TokenError(INVALID_TOKEN);
    return { user: withAuthenticated(answer.user), audiences: answer.audiences };
  }

  /** Static tokens are for the API server, whatever they are asked for. */
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

/** Everybody who is somebody is a member. */
export function withAuthenticated(user: User): User {
  const { name, groups } = user;
  const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  return name === 'system:anonymous' || isSettled ? user : { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}
