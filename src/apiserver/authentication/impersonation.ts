import type { RawHeaders } from '../../http/headers.js';
import type { Attributes, Decision, ResourceAttributes } from '../authorization/authorizer.js';
import { demand } from '../authorization/demand.js';
import { AUTHENTICATED_GROUP, type User } from '../contracts/user.js';
import { refusalWithoutConstraints, type WantedUser, wantedUser } from './impersonation-headers.js';
import { serviceAccountGroups, splitServiceAccountUserName } from './service-account-user.js';

export type Authorize = (attributes: Attributes) => Decision;

export const ANONYMOUS_NAME = 'system:anonymous';
const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
const AUTHENTICATION_GROUP = 'authentication.k8s.io';

/**
 * Whom the request is made as, by the rules until Kubernetes 1.35: everything about that user must be allowed by itself,
 * with the verb `impersonate`. Undefined where no other user is asked for. Throws Forbidden or BadRequest.
 */
export function impersonatedUser(headers: RawHeaders, requester: User, authorize: Authorize): User | undefined {
  const wanted = wantedUser(headers, refusalWithoutConstraints);
  if (!wanted) return undefined;
  const right = rightsTo('impersonate', '', requester);
  demand(authorize, [right.name(wanted), ...right.groups(wanted), ...right.extra(wanted), ...right.uid(wanted)]);
  return completeUser(wanted);
}

interface Rights {
  name(wanted: WantedUser): ResourceAttributes;
  uid(wanted: WantedUser): ResourceAttributes[];
  groups(wanted: WantedUser): ResourceAttributes[];
  extra(wanted: WantedUser): ResourceAttributes[];
}

/** What the requester must be allowed; users and groups belong to `group`, the rest always to authentication.k8s.io. */
export function rightsTo(verb: string, group: string, requester: User): Rights {
  const right = (part: Partial<ResourceAttributes>): ResourceAttributes => ({
    user: requester,
    verb,
    group: AUTHENTICATION_GROUP,
    version: 'v1',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    ...part,
  });
  return {
    name(wanted) {
      const account = splitServiceAccountUserName(wanted.name);
      return account
        ? right({ group, resource: 'serviceaccounts', ...account })
        : right({ group, resource: 'users', name: wanted.name });
    },
    uid: ({ uid }) => (uid === '' ? [] : [right({ resource: 'uids', name: uid })]),
    groups: ({ groups }) => groups.map((name) => right({ group, resource: 'groups', name })),
    extra: ({ extra }) =>
      [...extra].flatMap(([subresource, values]) =>
        values.map((name) => right({ resource: 'userextras', subresource, name })),
      ),
  };
}

/** With the groups that follow from who it is. */
export function completeUser(wanted: WantedUser, knownGroups?: readonly string[]): User {
  const account = splitServiceAccountUserName(wanted.name);
  const implied = knownGroups ?? (account ? serviceAccountGroups(account.namespace) : []);
  const groups = wanted.groups.length > 0 ? [...wanted.groups] : [...implied];
  const isAnonymous = wanted.name === ANONYMOUS_NAME;
  const everybody = isAnonymous ? UNAUTHENTICATED_GROUP : AUTHENTICATED_GROUP;
  const isSettled = groups.includes(everybody) || groups.includes(UNAUTHENTICATED_GROUP);
  return { ...wanted, groups: isSettled ? groups : [...groups, everybody] };
}
