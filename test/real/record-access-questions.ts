/** Who may do what: the questions of record-access.ts to SubjectAccessReview. */
import type { JsonObject } from '../../src/kube/json.js';
import { NAMESPACE } from './record-access-world.js';

export const ACCESS: readonly [string, JsonObject][] = [
  [
    'a group may',
    { user: 'x', groups: ['dev'], resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'other' } },
  ],
  ['a user may, cluster-wide', { user: 'bob', resourceAttributes: { verb: 'list', resource: 'pods' } }],
  [
    'a user and their group may',
    {
      user: 'bob',
      groups: ['dev'],
      resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'log', name: 'p', namespace: 'x' },
    },
  ],
  ['a wrong verb', { user: 'bob', resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'x' } }],
  [
    'a wrong group',
    { user: 'bob', resourceAttributes: { verb: 'get', group: 'apps', resource: 'pods', namespace: 'x' } },
  ],
  [
    'another subresource',
    { user: 'bob', resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'exec', namespace: 'x' } },
  ],
  [
    'a named object',
    {
      user: 'bob',
      resourceAttributes: { verb: 'get', resource: 'configmaps', name: 'settings', namespace: NAMESPACE },
    },
  ],
  [
    'another named object',
    { user: 'bob', resourceAttributes: { verb: 'get', resource: 'configmaps', name: 'other', namespace: NAMESPACE } },
  ],
  [
    'named objects without a name',
    { user: 'bob', resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: NAMESPACE } },
  ],
  [
    'another namespace',
    { user: 'bob', resourceAttributes: { verb: 'get', resource: 'configmaps', name: 'settings', namespace: 'other' } },
  ],
  [
    'all namespaces where one is bound',
    { user: 'bob', resourceAttributes: { verb: 'create', resource: 'configmaps' } },
  ],
  [
    'a service account of the binding',
    {
      user: `system:serviceaccount:${NAMESPACE}:default`,
      resourceAttributes: { verb: 'create', resource: 'configmaps', namespace: NAMESPACE },
    },
  ],
  [
    'any resource by its subresource',
    {
      user: `system:serviceaccount:${NAMESPACE}:builder`,
      resourceAttributes: {
        verb: 'patch',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'x',
      },
    },
  ],
  [
    'a star for a subresource is no pattern',
    {
      user: `system:serviceaccount:${NAMESPACE}:builder`,
      resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'x' },
    },
  ],
  [
    'any resource of a group',
    {
      user: `system:serviceaccount:${NAMESPACE}:builder`,
      resourceAttributes: { verb: 'deletecollection', group: 'batch', resource: 'jobs', namespace: NAMESPACE },
    },
  ],
  [
    'any subresource of a group',
    {
      user: `system:serviceaccount:${NAMESPACE}:builder`,
      resourceAttributes: {
        verb: 'update',
        group: 'batch',
        resource: 'jobs',
        subresource: 'status',
        namespace: NAMESPACE,
      },
    },
  ],
  ['a role that is gone', { user: 'gina', resourceAttributes: { verb: 'get', resource: 'pods' } }],
  [
    'roles that are gone',
    { user: 'gina', resourceAttributes: { verb: 'get', resource: 'pods', namespace: NAMESPACE } },
  ],
  ['an exact path', { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/probe' } }],
  ['a path below', { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/reports/a/b' } }],
  ['a path beside', { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/reports' } }],
  ['a path with a wrong verb', { user: 'bob', nonResourceAttributes: { verb: 'post', path: '/probe' } }],
  [
    'a default path for everybody',
    { user: 'bob', groups: ['system:unauthenticated'], nonResourceAttributes: { verb: 'get', path: '/healthz' } },
  ],
  ['masters may', { user: 'bob', groups: ['system:masters'], resourceAttributes: { verb: 'x', resource: 'y' } }],
  [
    'a controller of the system',
    {
      user: 'system:serviceaccount:kube-system:replicaset-controller',
      resourceAttributes: { verb: 'create', resource: 'pods', namespace: 'x' },
    },
  ],
  [
    'the scheduler',
    {
      user: 'system:kube-scheduler',
      resourceAttributes: { verb: 'create', resource: 'pods', subresource: 'binding', namespace: 'x' },
    },
  ],
  ['only a group', { groups: ['dev'], resourceAttributes: { verb: 'list', resource: 'pods' } }],
  [
    'more to say about a user',
    {
      user: 'bob',
      uid: 'u',
      extra: { k: ['v'] },
      resourceAttributes: {
        verb: 'list',
        version: 'v1',
        resource: 'pods',
        fieldSelector: { rawSelector: 'a=b' },
        labelSelector: { requirements: [{ key: 'k', operator: 'In', values: ['v'] }] },
      },
    },
  ],
  [
    'selectors that cannot be read',
    {
      user: 'bob',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        fieldSelector: { rawSelector: 'a==b==c,=(' },
        labelSelector: { rawSelector: '!!' },
      },
    },
  ],
  [
    'operators that nobody knows',
    {
      user: 'bob',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        fieldSelector: {
          requirements: [
            { key: 'k', operator: 'Like', values: ['v'] },
            { key: 'k', operator: 'In', values: ['v'] },
          ],
        },
        labelSelector: { requirements: [{ key: 'k', operator: 'Like', values: ['v'] }] },
      },
    },
  ],
  ['neither kind of attributes', { user: 'bob' }],
  [
    'both kinds of attributes',
    { user: 'bob', resourceAttributes: { verb: 'get' }, nonResourceAttributes: { verb: 'get', path: '/x' } },
  ],
  ['nobody', { resourceAttributes: { verb: 'get', resource: 'pods' } }],
  [
    'selectors said twice',
    {
      user: 'bob',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        labelSelector: {},
      },
    },
  ],
  [
    'invalid requirements',
    {
      user: 'bob',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        fieldSelector: {
          requirements: [
            { key: '', operator: 'In' },
            { key: 'k', operator: 'Exists', values: ['v'] },
          ],
        },
        labelSelector: {
          requirements: [
            { key: 'a b', operator: 'In', values: ['v v'] },
            { key: 'k', operator: 'Exists', values: ['v'] },
            { key: 'k', operator: 'NotIn' },
          ],
        },
      },
    },
  ],
  ['everything wrong', {}],
];
