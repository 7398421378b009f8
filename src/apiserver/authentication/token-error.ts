import type { User } from '../contracts/user.js';

/** The user of a token, and those of the requested audiences that it has. */
export interface TokenAnswer {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** A token of a known issuer that is not valid. The message may be shown to the client that reviews it. */
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
