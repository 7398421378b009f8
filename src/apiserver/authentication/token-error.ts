import type { User } from '../contracts/user.js';

/** Whom a token stands for, and for which of the audiences asked about it was made. */
export interface TokenAnswer {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** A token that somebody knows but that does not count. The message may be told to whoever reviews it. */
export class TokenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenError';
  }
}

/** Those of `first` that `second` has too, in the order of `first`. */
export function commonAudiences(first: readonly string[], second: readonly string[]): string[] {
  return first.filter((audience) => second.includes(audience));
}
