import type { User } from '../contracts/user.js';

/** The user of a token, and those of the requested audiences that it has. */
export interface TokenAnswer {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** An invalid token of a known issuer. The message may be shown to clients that review it. */
export class TokenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenError';
  }
}

/** Returns the intersection, in the order of `first`. */
export function commonAudiences(first: readonly string[], second: readonly string[]): string[] {
  return first.filter((audience) => second.includes(audience));
}
