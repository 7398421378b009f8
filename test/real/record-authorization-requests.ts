import type { Json } from '../../src/kube/json.js';
import { type AuthorizationCase, CORE, meta, NAMESPACE, pod } from './record-authorization-case.js';

const GET = { method: 'GET', path: `${CORE}/configmaps` } as const;
const impersonate = (
  name: string,
  headers: readonly string[],
  more: Partial<AuthorizationCase> = {},
): AuthorizationCase => ({
  name: `impersonation: ${name}`,
  ...GET,
  headers,
  ...more,
});
const ONLY_LEGACY = [
  'impersonate-on:user-info:list configmaps',
  'impersonate-on:serviceaccount:list configmaps',
  'impersonate-on:arbitrary-node:list configmaps',
];
const robot = ['Impersonate-User', `system:serviceaccount:${NAMESPACE}:robot`];
const groups = (...names: string[]): string[] => names.flatMap((name) => ['Impersonate-Group', name]);
const alice = ['Impersonate-User', 'alice'];
const uid = ['Impersonate-Uid', 'alice-uid'];
const extra = ['Impersonate-Extra-example.test%2fscope', 'one', 'Impersonate-Extra-example.test%2fscope', 'two'];

const IMPERSONATIONS: readonly AuthorizationCase[] = [
  impersonate('user', alice),
  impersonate('user in the old way', alice, { deny: ONLY_LEGACY }),
  impersonate('user without any right', alice, { deny: [...ONLY_LEGACY, 'impersonate users'] }),
  impersonate('user without the right to be impersonated', alice, {
    deny: ['impersonate:user-info users', 'impersonate users'],
  }),
  impersonate('user with groups, uid and extra', [...alice, ...groups('a', 'b'), ...uid, ...extra]),
  impersonate('user with groups, uid and extra in the old way', [...alice, ...groups('a', 'b'), ...uid, ...extra], {
    deny: ONLY_LEGACY,
  }),
  impersonate('user with many groups', [...alice, ...groups('a', 'b', 'c', 'd')]),
  impersonate('group without the right', [...alice, ...groups('a')], {
    deny: ['impersonate:user-info groups', 'impersonate groups'],
  }),
  impersonate('uid without the right', [...alice, ...uid], {
    deny: ['impersonate:user-info uids', 'impersonate uids'],
  }),
  impersonate('extra without the right', [...alice, ...extra], {
    deny: ['impersonate:user-info userextras/example.test/scope', 'impersonate userextras/example.test/scope'],
  }),
  impersonate('service account', robot),
  impersonate('service account in the old way', robot, { deny: ONLY_LEGACY }),
  impersonate('service account without the right', robot, { deny: [...ONLY_LEGACY, 'impersonate serviceaccounts'] }),
  impersonate('service account with groups', [...robot, ...groups('a')]),
  impersonate('node', ['Impersonate-User', 'system:node:n1']),
  impersonate('node in the old way', ['Impersonate-User', 'system:node:n1'], { deny: ONLY_LEGACY }),
  impersonate('group without a user', groups('a')),
  impersonate('anonymous', ['Impersonate-User', 'system:anonymous']),
  impersonate('create', alice, { method: 'POST', path: `${CORE}/configmaps`, body: meta('by-alice') }),
  impersonate('pod by a service account', robot, { method: 'POST', path: `${CORE}/pods`, body: pod('by-robot') }),
  impersonate('path', alice, { path: '/version' }),
  impersonate('user who lacks the right itself', alice, { deny: ['list configmaps'] }),
];

const review = (resource: string, kind: string, group: string, spec: Json): AuthorizationCase => ({
  name: `${resource}: create`,
  method: 'POST',
  path: `/apis/${group}/v1/${resource}`,
  body: { apiVersion: `${group}/v1`, kind, spec },
});
const asked = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: NAMESPACE, name: 'x' } };

const REVIEWS: readonly AuthorizationCase[] = [
  review('selfsubjectaccessreviews', 'SelfSubjectAccessReview', 'authorization.k8s.io', asked),
  review('subjectaccessreviews', 'SubjectAccessReview', 'authorization.k8s.io', {
    ...asked,
    user: 'someone',
    groups: ['g'],
  }),
  {
    ...review('localsubjectaccessreviews', 'LocalSubjectAccessReview', 'authorization.k8s.io', {
      ...asked,
      user: 'someone',
    }),
    path: `/apis/authorization.k8s.io/v1/namespaces/${NAMESPACE}/localsubjectaccessreviews`,
  },
  {
    ...review('subjectaccessreviews', 'SubjectAccessReview', 'authorization.k8s.io', { ...asked, user: 'someone' }),
    name: 'subjectaccessreviews: create without the right',
    deny: ['create subjectaccessreviews'],
  },
  review('selfsubjectreviews', 'SelfSubjectReview', 'authentication.k8s.io', {}),
  review('tokenreviews', 'TokenReview', 'authentication.k8s.io', { token: 'nonsense' }),
];

const path = (name: string, more: Partial<AuthorizationCase> = {}): AuthorizationCase => ({
  name: `path ${name}`,
  method: 'GET',
  path: name,
  ...more,
});

const PATHS: readonly AuthorizationCase[] = [
  ...[
    '/',
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/example.test/v1',
    '/healthz',
    '/livez',
    '/readyz',
    '/version',
    '/version/',
    '/openapi/v2',
    '/openapi/v3',
    '/metrics',
    '/nothing',
    '/apis/none.test/v1',
    '/apis/none.test/v1/things',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
  ].map((name) => path(name)),
  ...['/api', '/version', '/healthz', '/metrics', '/nothing', '/apis/apps/v1'].map((name) =>
    path(name, { name: `path ${name} without the right`, deny: [`get ${name}`] }),
  ),
  path('/version', { name: 'path /version: POST', method: 'POST' }),
  path('/nothing', { name: 'path /nothing: DELETE', method: 'DELETE' }),
  path('/api/v1/nothings', { name: 'unknown resource: list' }),
  path(`${CORE}/nothings/x/y`, { name: 'unknown subresource: get' }),
  path(`${CORE}/pods/x/y/z`, { name: 'path below a subresource: get' }),
  path(`${CORE}/configmaps`, { name: 'collection: PUT', method: 'PUT', body: {} }),
  path(`${CORE}/configmaps/x`, { name: 'object: POST', method: 'POST', body: {} }),
  path('/api/v1/pods', { name: 'pods of all namespaces: list' }),
  path('/api/v1/configmaps', { name: 'configmaps of all namespaces: deletecollection', method: 'DELETE' }),
  path(`${CORE}/pods/x`, { name: 'object: HEAD', method: 'HEAD' }),
];

const OWNED: readonly AuthorizationCase[] = [
  {
    name: 'configmaps: create with an owner whose deletion it blocks',
    method: 'POST',
    path: `${CORE}/configmaps`,
    body: {
      metadata: {
        name: 'owned',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y', blockOwnerDeletion: true }],
      },
    },
    deny: ['update pods/finalizers'],
  },
];

/** kube-apiserver remembers for seconds whom a requester may impersonate, so no user comes twice. */
function asNumbered(each: AuthorizationCase, index: number): AuthorizationCase {
  const headers = each.headers!.map((text) =>
    text === 'alice' || text.endsWith(':robot') || text === 'system:node:n1' ? `${text}-${index}` : text,
  );
  return { ...each, headers };
}

/** Requests as another user, reviews, and paths that name no resource or none that is served. */
export const REQUEST_CASES: readonly AuthorizationCase[] = [
  ...IMPERSONATIONS.map(asNumbered),
  ...REVIEWS,
  ...PATHS,
  ...OWNED,
];
