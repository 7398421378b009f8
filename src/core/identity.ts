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
}

export const ANONYMOUS: CarriedIdentity = { kind: 'carried', flow: 'anonymous' };

/** What a request is queued under: one noisy caller must not starve the others. */
export function flowOf(identity: Identity): string {
  return identity.kind === 'established' ? `user:${identity.user}` : identity.flow;
}
