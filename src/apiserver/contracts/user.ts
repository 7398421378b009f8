/** The user of a request, for RBAC, admission and reviews. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Keys in lower case and unescaped, values in order. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

export const ANONYMOUS_USER: User = {
  name: 'system:anonymous',
  uid: '',
  groups: [UNAUTHENTICATED_GROUP],
  extra: new Map(),
};

export const AUTHENTICATED_GROUP = 'system:authenticated';
/** Before the namespace and name of a service account in its user name. */
export const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';
/** Members have all rights, without RBAC. */
export const MASTERS_GROUP = 'system:masters';
