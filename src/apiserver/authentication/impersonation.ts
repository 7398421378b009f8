import type { RawHeaders } from '../../http/headers.js';
import { type Attributes, type Decision, type ResourceAttributes, resourceRight } from '../authorization/authorizer.js';
import { demand } from '../authorization/demand.js';
import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type User } from '../contracts/user.js';
import { refusalWithoutConstraints, type WantedUser, wantedUser } from './impersonation-headers.js';
import { serviceAccountGroups, splitServiceAccountUserName } from './service-account-user.js';

export type Authorize = (attributes: Attributes) => Decision;

export const AUTHENTICATION_GROUP = 'authentication.k8s.io';

/**
 * Returns the impersonated user by the rules until Kubernetes 1.35: the requester needs the verb
 * `impersonate` on each part of that user. Undefined without impersonation. Throws Forbidden or
 * BadRequest.
 */
export function impersonatedUser(headers: RawHeaders, requester: User, authorize: Authorize): User | undefined {
  const wanted = wantedUser(headers, refusalWithoutConstraints);
  if (!wanted) return undefined;
  const right = rightsTo('impersonate', '', requester, wanted);
  demand(authorize, [right.name, ...right.groups, ...right.extra, ...right.uid]);
  return completeUser(wanted);
}

interface Rights {
  readonly name: ResourceAttributes;
  readonly uid: readonly ResourceAttributes[];
  readonly groups: readonly ResourceAttributes[];
  readonly extra: readonly ResourceAttributes[];
}

/**
 * Returns the rights that the requester needs to impersonate `wanted`. Users and groups belong to
 * API group `group`, the rest always to authentication.k8s.io.
 */
export function rightsTo(verb: string, group: string, requester: User, wanted: WantedUser): Rights {
  const right = (part: Partial<ResourceAttributes>): ResourceAttributes =>
    resourceRight(requester, verb, { group: AUTHENTICATION_GROUP, version: 'v1', ...part });
  const account = splitServiceAccountUserName(wanted.name);
  const { uid, groups, extra } = wanted;
  return {
    name: account
      ? right({ group, resource: 'serviceaccounts', ...account })
      : right({ group, resource: 'users', name: wanted.name }),
    uid: uid === '' ? [] : [right({ resource: 'uids', name: uid })],
    groups: groups.map((name) => right({ group, resource: 'groups', name })),
    extra: [...extra].flatMap(([subresource, values]) =>
      values.map((name) => right({ resource: 'userextras', subresource, name })),
    ),
  };
}

/** Adds the groups that follow from the user name. */
export function completeUser(wanted: WantedUser, knownGroups?: readonly string[]): User {
  const account = splitServiceAccountUserName(wanted.name);
  const implied = knownGroups ?? (account ? serviceAccountGroups(account.namespace) : []);
  const groups = wanted.groups.length > 0 ? [...wanted.groups] : [...implied];
  const everybody = wanted.name === ANONYMOUS_USER.name ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP;
  const isSettled = groups.includes(everybody) || groups.includes(UNAUTHENTICATED_GROUP);
  return { ...wanted, groups: isSettled ? groups : [...groups, everybody] };
}
