/** The requests that record-access.ts records the answers to. */
import type { JsonObject } from '../../src/kube/json.js';
import { ACCESS } from './record-access-questions.js';
import {
  type AccessCase,
  AUTHN,
  as,
  binding,
  IN_NAMESPACE,
  NAMESPACE,
  RBAC_PATH,
  role,
  rule,
  user,
} from './record-access-world.js';

const AUTHZ = 'authorization.k8s.io/v1';

function accessReview(spec: JsonObject, metadata?: JsonObject): Omit<AccessCase, 'name'> {
  return {
    method: 'POST',
    path: `/apis/${AUTHZ}/subjectaccessreviews`,
    body: { apiVersion: AUTHZ, kind: 'SubjectAccessReview', spec, ...(metadata ? { metadata } : {}) },
  };
}

const SELF: readonly [string, string, JsonObject, string?][] = [
  [
    'what I may',
    'selfsubjectaccessreviews',
    { spec: { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'x' } } },
  ],
  ['what I may not', 'selfsubjectaccessreviews', { spec: { nonResourceAttributes: { verb: 'get', path: '/secret' } } }],
  ['nothing asked', 'selfsubjectaccessreviews', { spec: {} }],
  [
    'metadata where none belongs',
    'selfsubjectaccessreviews',
    { metadata: { name: 'x' }, spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  ],
  ['my rules', 'selfsubjectrulesreviews', { spec: { namespace: NAMESPACE } }],
  ['my rules nowhere', 'selfsubjectrulesreviews', { spec: {} }],
];

function local(name: string, namespace: string, object: JsonObject): AccessCase {
  return {
    name,
    method: 'POST',
    path: `/apis/${AUTHZ}/namespaces/${namespace}/localsubjectaccessreviews`,
    body: { apiVersion: AUTHZ, kind: 'LocalSubjectAccessReview', ...object },
  };
}

function tokenRequest(
  name: string,
  spec: JsonObject,
  more: { account?: string; metadata?: JsonObject } = {},
): AccessCase {
  return {
    name,
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${more.account ?? 'builder'}/token`,
    body: {
      apiVersion: AUTHN,
      kind: 'TokenRequest',
      spec,
      ...(more.metadata ? { metadata: more.metadata } : {}),
    },
  };
}

function tokenReview(name: string, spec: JsonObject): AccessCase {
  return {
    name,
    method: 'POST',
    path: `/apis/${AUTHN}/tokenreviews`,
    body: { apiVersion: AUTHN, kind: 'TokenReview', spec },
  };
}

const reference = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  boundObjectRef: { apiVersion: 'v1', kind, name, ...more },
});

export const REVIEW_CASES: readonly AccessCase[] = [
  ...ACCESS.map(([name, spec]) => ({ name, ...accessReview(spec) })),
  {
    name: 'metadata on an access review',
    ...accessReview({ user: 'bob', resourceAttributes: { verb: 'get', resource: 'pods' } }, { labels: { a: 'b' } }),
  },
  ...SELF.map(([name, resource, body]) => ({
    name,
    method: 'POST',
    path: `/apis/${AUTHZ}/${resource}`,
    headers: as('bob', 'dev', 'system:authenticated'),
    body: {
      apiVersion: AUTHZ,
      kind: resource === 'selfsubjectrulesreviews' ? 'SelfSubjectRulesReview' : 'SelfSubjectAccessReview',
      ...body,
    },
  })),
  {
    name: 'my rules, some gone',
    method: 'POST',
    path: `/apis/${AUTHZ}/selfsubjectrulesreviews`,
    headers: as('gina', 'system:authenticated'),
    body: { apiVersion: AUTHZ, kind: 'SelfSubjectRulesReview', spec: { namespace: NAMESPACE } },
  },
  local('a local access review', NAMESPACE, {
    metadata: { namespace: NAMESPACE },
    spec: { user: 'bob', resourceAttributes: { verb: 'create', resource: 'configmaps', namespace: NAMESPACE } },
  }),
  local('a local access review without a namespace of its own', NAMESPACE, {
    spec: { user: 'bob', resourceAttributes: { verb: 'create', resource: 'configmaps', namespace: NAMESPACE } },
  }),
  local('a local access review about elsewhere', NAMESPACE, {
    metadata: { namespace: NAMESPACE },
    spec: { user: 'bob', resourceAttributes: { verb: 'create', resource: 'configmaps', namespace: 'other' } },
  }),
  local('a local access review about a path', NAMESPACE, {
    metadata: { namespace: NAMESPACE, name: 'n' },
    spec: { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/x' } },
  }),
  {
    name: 'who am I',
    requester: 'alice',
    method: 'POST',
    path: `/apis/${AUTHN}/selfsubjectreviews`,
    body: { apiVersion: AUTHN, kind: 'SelfSubjectReview' },
  },
  {
    name: 'who is carol',
    requester: 'carol',
    method: 'POST',
    path: `/apis/${AUTHN}/selfsubjectreviews`,
    body: { apiVersion: AUTHN, kind: 'SelfSubjectReview', metadata: { name: 'x' } },
  },
  tokenRequest('a token', {}),
  tokenRequest('a token for an audience', { audiences: ['a', 'b'], expirationSeconds: 600 }),
  tokenRequest('a token too short', { expirationSeconds: 599 }),
  tokenRequest('a token too long', { expirationSeconds: 4294967297 }),
  tokenRequest('a token for nobody', {}, { account: 'nobody' }),
  tokenRequest('a token with another name', {}, { metadata: { name: 'other' } }),
  tokenRequest('a token with another namespace', {}, { metadata: { namespace: 'other' } }),
  tokenRequest('a token with another uid', {}, { metadata: { uid: 'other' } }),
  tokenRequest('a token bound to a pod', { audiences: ['a'], ...reference('Pod', 'worker') }),
  tokenRequest('a token bound to a pod, as a kubelet asks', { expirationSeconds: 3607, ...reference('Pod', 'worker') }),
  tokenRequest('a token bound to the pod of another', reference('Pod', 'worker'), { account: 'default' }),
  tokenRequest('a token bound to a pod that is not there', reference('Pod', 'gone')),
  tokenRequest('a token bound to a pod of another time', reference('Pod', 'worker', { uid: 'other' })),
  tokenRequest('a token bound to a secret', reference('Secret', 'bound')),
  tokenRequest('a token bound to a node', reference('Node', 'node-a')),
  tokenRequest('a token bound to a node that is not there', reference('Node', 'gone')),
  tokenRequest('a token bound to something else', {
    boundObjectRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
  }),
  tokenReview('a token file token', { token: 'alice-token' }),
  tokenReview('a token file token for an audience', {
    token: 'carol-token',
    audiences: ['https://kubernetes.default.svc', 'x'],
  }),
  tokenReview('a token file token for other audiences', { token: 'alice-token', audiences: ['x'] }),
  tokenReview('a token file token with quotes', { token: 'quoted "token"' }),
  tokenReview('no such token', { token: 'unknown' }),
  tokenReview('an empty token', { token: '' }),
  tokenReview('a service account token', { token: '$TOKEN' }),
  tokenReview('a bound service account token', { token: '$POD_TOKEN', audiences: ['a', 'z'] }),
  tokenReview('a service account token for other audiences', { token: '$TOKEN', audiences: ['x'] }),
  tokenReview('a service account token that was changed', { token: '$TOKEN_CHANGED' }),
];

const write = (name: string, who: string, resource: string, body: JsonObject, method = 'POST'): AccessCase => {
  const namespaced = resource === 'roles' || resource === 'rolebindings';
  const base = `${namespaced ? IN_NAMESPACE : RBAC_PATH}/${resource}`;
  const suffix = method === 'PUT' ? `/${(body.metadata as JsonObject).name as string}` : '';
  return {
    name,
    headers: as(who, 'writers', 'system:authenticated'),
    method,
    path: `${base}${suffix}?dryRun=All`,
    body,
  };
};

export const WRITE_CASES: readonly AccessCase[] = [
  write('a role with held rights', 'wendy', 'roles', role('Role', 'n', [rule(['get', 'list'], [''], ['pods'])])),
  write(
    'a role with rights not held',
    'wendy',
    'roles',
    role('Role', 'n', [
      rule(['get', 'delete', 'create'], [''], ['pods', 'secrets'], ['one', 'two']),
      rule(['*'], ['apps'], ['*']),
    ]),
  ),
  write(
    'a cluster role with paths',
    'wendy',
    'clusterroles',
    role('ClusterRole', 'n', [{ verbs: ['get', 'post'], nonResourceURLs: ['/reports/x', '/other', '*'] }]),
  ),
  write(
    'a cluster role that aggregates',
    'wendy',
    'clusterroles',
    role('ClusterRole', 'n', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
  ),
  write('a role by somebody who may escalate', 'wes', 'roles', role('Role', 'n', [rule(['*'], ['*'], ['*'])])),
  write(
    'a role of another, changed',
    'wendy',
    'roles',
    role('Role', 'config-editor', [rule(['get'], [''], ['secrets'])]),
    'PUT',
  ),
  write(
    'a role of another, with a finalizer',
    'wendy',
    'roles',
    {
      ...role('Role', 'config-editor', [
        rule(['get', 'update'], [''], ['configmaps'], ['settings', 'more']),
        rule(['create'], [''], ['configmaps']),
      ]),
      metadata: {
        name: 'config-editor',
        namespace: NAMESPACE,
        finalizers: ['example.test/x'],
        uid: '$UID',
        resourceVersion: '$VERSION',
        creationTimestamp: '$CREATED',
      },
    },
    'PUT',
  ),
  write(
    'a binding to held rights',
    'wendy',
    'rolebindings',
    binding('RoleBinding', 'n', ['ClusterRole', 'pod-reader'], user('x')),
  ),
  write(
    'a binding to rights not held',
    'wendy',
    'rolebindings',
    binding('RoleBinding', 'n', ['ClusterRole', 'scaler'], user('x')),
  ),
  write(
    'a binding to a role of the namespace',
    'wendy',
    'rolebindings',
    binding('RoleBinding', 'n', ['Role', 'config-editor'], user('x')),
  ),
  write(
    'a binding by somebody who may bind',
    'wim',
    'clusterrolebindings',
    binding('ClusterRoleBinding', 'n', ['ClusterRole', 'view'], user('x')),
  ),
  write(
    'a binding by somebody who may not bind that',
    'wim',
    'clusterrolebindings',
    binding('ClusterRoleBinding', 'n', ['ClusterRole', 'pod-reader'], user('x')),
  ),
  write(
    'a binding to nothing by somebody who may',
    'wim',
    'clusterrolebindings',
    binding('ClusterRoleBinding', 'n', ['ClusterRole', 'missing'], user('x')),
  ),
  write(
    'a binding to nothing',
    'wendy',
    'clusterrolebindings',
    binding('ClusterRoleBinding', 'n', ['ClusterRole', 'missing'], user('x')),
  ),
  write(
    'a binding to a role that is gone',
    'wendy',
    'rolebindings',
    binding('RoleBinding', 'n', ['Role', 'gone'], user('x')),
  ),
];

const whoami = {
  method: 'POST',
  path: `/apis/${AUTHN}/selfsubjectreviews`,
  body: { apiVersion: AUTHN, kind: 'SelfSubjectReview' },
};
const listPods = { method: 'GET', path: `/api/v1/namespaces/${NAMESPACE}/pods?limit=1` };

export const IMPERSONATION_CASES: readonly AccessCase[] = [
  { name: 'a user', requester: 'alice', headers: as('bob'), ...whoami },
  { name: 'a user with a group', requester: 'alice', headers: as('bob', 'dev'), ...whoami },
  { name: 'a user with groups, one not allowed', requester: 'alice', headers: as('bob', 'dev', 'ops'), ...whoami },
  {
    name: 'a user with all there is',
    requester: 'alice',
    headers: [...as('bob', 'dev'), 'Impersonate-Uid', 'bob-uid', 'Impersonate-Extra-Scopes', 'a'],
    ...whoami,
  },
  {
    name: 'a user with an extra value not allowed',
    requester: 'alice',
    headers: [...as('bob'), 'Impersonate-Extra-Scopes', 'b'],
    ...whoami,
  },
  {
    name: 'a user with a uid not allowed',
    requester: 'alice',
    headers: [...as('bob'), 'Impersonate-Uid', 'x'],
    ...whoami,
  },
  {
    name: 'a service account',
    requester: 'alice',
    headers: as(`system:serviceaccount:${NAMESPACE}:builder`),
    ...whoami,
  },
  { name: 'another user', requester: 'alice', headers: as('mallory'), ...whoami },
  { name: 'another user, on a resource', requester: 'alice', headers: as('mallory'), ...listPods },
  { name: 'a user for one verb', requester: 'alice', headers: as('erin'), ...listPods },
  { name: 'a user for another verb', requester: 'alice', headers: as('erin'), ...whoami },
  {
    name: 'a user, by somebody who may nothing',
    requester: 'carol',
    headers: as('bob'),
    method: 'GET',
    path: '/version',
  },
  {
    name: 'a service account, by somebody who may nothing',
    requester: 'carol',
    headers: as(`system:serviceaccount:${NAMESPACE}:builder`),
    ...listPods,
  },
  { name: 'a node, by somebody who may nothing', requester: 'carol', headers: as('system:node:node-a'), ...listPods },
  { name: 'the anonymous user, by masters', headers: as('system:anonymous'), ...whoami },
  { name: 'the unauthenticated group, by masters', headers: as('x', 'system:unauthenticated'), ...whoami },
  {
    name: 'an extra key with escapes, by masters',
    headers: [...as('x'), 'Impersonate-Extra-Example.com%2Fa', '1', 'Impersonate-Extra-Example.com%2Fa', '2'],
    ...whoami,
  },
  { name: 'a group alone', headers: ['Impersonate-Group', 'dev'], ...whoami },
  { name: 'a uid alone', headers: ['Impersonate-Uid', 'x'], ...whoami },
  { name: 'an extra value alone', headers: ['Impersonate-Extra-Scopes', 'a'], ...whoami },
];
