import type { Flow } from './fair-limiter.js';

/**
 * Identity of the caller: established by this process (a verified certificate, or headers of a
 * front proxy), or carried as credentials (or none) that the API server verifies.
 */
export type Identity = EstablishedIdentity | CarriedIdentity;

export interface EstablishedIdentity {
  readonly kind: 'established';
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Keys as in Kubernetes (lower case, unescaped), values in order. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface CarriedIdentity {
  readonly kind: 'carried';
  /** Distinguishes callers for fairness, without containing the credential. */
  readonly flow: string;
  /** True if an API server has accepted this credential before. */
  readonly proven: boolean;
}

export const ANONYMOUS: CarriedIdentity = { kind: 'carried', flow: 'anonymous', proven: false };

/** Group of all unproven callers: made-up tokens and addresses must not multiply a share. */
const UNAUTHENTICATED = 'unauthenticated';

/** Returns the share of the limits that a request uses. */
export function flowOf(identity: Identity): Flow {
  if (identity.kind === 'established') {
    const user = `user:${identity.user}`;
    return { group: user, member: user };
  }
  const { flow, proven } = identity;
  return { group: proven ? flow : UNAUTHENTICATED, member: flow };
}
