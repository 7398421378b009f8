/** Who a request is made by, as RBAC, admission and reviews see it. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Keys as Kubernetes has them (lower case, unescaped), values in order. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export const ANONYMOUS_USER: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
};

export const AUTHENTICATED_GROUP = 'system:authenticated';
/** Members may do everything; RBAC is not asked. */
export const MASTERS_GROUP = 'system:masters';
