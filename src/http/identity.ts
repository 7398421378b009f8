import type { Flow } from './fair-limiter.js';

/**
 * Who asks. Either this process knows it (a verified certificate, or a front proxy's word), or the request carries
 * credentials (or none) that the API server itself will judge.
 */
export type Identity = EstablishedIdentity | CarriedIdentity;

export interface EstablishedIdentity {
  readonly kind: 'established';
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Keys as Kubernetes has them (lower case, unescaped), values in order. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface CarriedIdentity {
  readonly kind: 'carried';
  /** Tells one caller from another for fairness, without holding the credential itself. */
  readonly flow: string;
  /** An API server has accepted this credential before. */
  readonly proven: boolean;
}

export const ANONYMOUS: CarriedIdentity = { kind: 'carried', flow: 'anonymous', proven: false };

/** Callers of whom nothing is proven share one group: made-up tokens and addresses must not multiply a share. */
const UNAUTHENTICATED = 'unauthenticated';

/** Whose share of the limits a request uses. */
export function flowOf(identity: Identity): Flow {
  if (identity.kind === 'established') {
    const user = `user:${identity.user}`;
    return { group: user, member: user };
  }
  const { flow, proven } = identity;
  return { group: proven ? flow : UNAUTHENTICATED, member: flow };
}
