/** What record-access.ts creates before it asks anything, and what its cases are made of. */
import type { JsonObject } from '../../src/kube/json.js';

export interface AccessCase {
  readonly name: string;
  /** A user of the token file; the administrator without one. */
  readonly requester?: string;
  /** Impersonation, as raw header pairs. */
  readonly headers?: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
}

export const NAMESPACE = 'access';

/** token, user, uid, groups */
export const TOKEN_FILE = [
  'alice-token,alice,alice-uid,"dev,team a"',
  'carol-token,carol,,',
  '"quoted ""token""",dave,dave-uid',
].join('\n');

const RBAC = 'rbac.authorization.k8s.io';
export const RBAC_PATH = `/apis/${RBAC}/v1`;
export const IN_NAMESPACE = `${RBAC_PATH}/namespaces/${NAMESPACE}`;

export function role(
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: JsonObject[],
  more: JsonObject = {},
): JsonObject {
  const metadata: JsonObject = kind === 'Role' ? { name, namespace: NAMESPACE } : { name };
  return { apiVersion: `${RBAC}/v1`, kind, metadata, rules, ...more };
}

export function binding(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  [roleKind, roleName]: [string, string],
  ...subjects: JsonObject[]
): JsonObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata: kind === 'RoleBinding' ? { name, namespace: NAMESPACE } : { name },
    roleRef: { apiGroup: RBAC, kind: roleKind, name: roleName },
    subjects,
  };
}

export const user = (name: string): JsonObject => ({ kind: 'User', apiGroup: RBAC, name });
const group = (name: string): JsonObject => ({ kind: 'Group', apiGroup: RBAC, name });
const account = (name: string): JsonObject => ({ kind: 'ServiceAccount', namespace: NAMESPACE, name });
export const rule = (
  verbs: string[],
  apiGroups: string[],
  resources: string[],
  resourceNames?: string[],
): JsonObject => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames ? { resourceNames } : {}),
});

/** Created before anything is asked; [path, object]. */
export const WORLD: readonly (readonly [string, JsonObject])[] = [
  ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }],
  ...['builder', 'default'].map(
    (name) =>
      [
        `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
      ] as const,
  ),
  ['/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }],
  [
    `/api/v1/namespaces/${NAMESPACE}/secrets`,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bound' }, type: 'Opaque' },
  ],
  [
    `/api/v1/namespaces/${NAMESPACE}/pods`,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'worker' },
      spec: { serviceAccountName: 'builder', nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] },
    },
  ],
  ...[
    role('ClusterRole', 'pod-reader', [
      rule(['get', 'list', 'watch'], [''], ['pods', 'pods/log']),
      { verbs: ['get'], nonResourceURLs: ['/probe', '/reports/*'] },
    ]),
    role('ClusterRole', 'scaler', [rule(['update', 'patch'], ['apps'], ['*/scale']), rule(['get'], ['*'], ['pods/*'])]),
    role('ClusterRole', 'everything-in-batch', [rule(['*'], ['batch'], ['*'])]),
    role(
      'ClusterRole',
      'role-writer',
      [rule(['*'], [RBAC], ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'])].map((each) => ({
        ...each,
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      })),
    ),
    role('ClusterRole', 'may-bind-view', [rule(['bind'], [RBAC], ['clusterroles'], ['view', 'missing'])]),
    role('ClusterRole', 'may-escalate', [rule(['escalate'], [RBAC], ['roles', 'clusterroles'])]),
    role('ClusterRole', 'may-act-as-bob', [
      rule(['impersonate'], [''], ['users'], ['bob']),
      rule(['impersonate'], [''], ['groups'], ['dev']),
      rule(['impersonate'], [''], ['serviceaccounts']),
      rule(['impersonate'], ['authentication.k8s.io'], ['userextras/scopes'], ['a']),
      rule(['impersonate'], ['authentication.k8s.io'], ['uids'], ['bob-uid']),
    ]),
    role('ClusterRole', 'may-list-as-erin', [
      rule(['impersonate:user-info'], ['authentication.k8s.io'], ['users'], ['erin']),
      rule(['impersonate-on:user-info:list'], [''], ['pods']),
    ]),
    role('Role', 'config-editor', [
      rule(['get', 'update'], [''], ['configmaps'], ['settings', 'more']),
      rule(['create'], [''], ['configmaps']),
    ]),
  ].map((object) => [object.kind === 'Role' ? `${IN_NAMESPACE}/roles` : `${RBAC_PATH}/clusterroles`, object] as const),
  ...[
    binding('ClusterRoleBinding', 'dev-read', ['ClusterRole', 'pod-reader'], group('dev'), user('bob')),
    binding('ClusterRoleBinding', 'scale', ['ClusterRole', 'scaler'], account('builder')),
    binding('ClusterRoleBinding', 'ghost', ['ClusterRole', 'missing'], user('gina')),
    binding(
      'ClusterRoleBinding',
      'write-roles',
      ['ClusterRole', 'role-writer'],
      user('wendy'),
      user('wes'),
      user('wim'),
    ),
    binding('ClusterRoleBinding', 'escalate', ['ClusterRole', 'may-escalate'], user('wes')),
    binding('ClusterRoleBinding', 'bind-view', ['ClusterRole', 'may-bind-view'], user('wim')),
    binding('ClusterRoleBinding', 'wendy-reads', ['ClusterRole', 'pod-reader'], user('wendy')),
    binding('ClusterRoleBinding', 'act-as-bob', ['ClusterRole', 'may-act-as-bob'], user('alice')),
    binding('ClusterRoleBinding', 'list-as-erin', ['ClusterRole', 'may-list-as-erin'], user('alice')),
    binding('RoleBinding', 'edit-config', ['Role', 'config-editor'], user('bob'), {
      kind: 'ServiceAccount',
      name: 'default',
      namespace: NAMESPACE,
    }),
    binding('RoleBinding', 'batch', ['ClusterRole', 'everything-in-batch'], account('builder'), group('team a')),
    binding('RoleBinding', 'ghosts', ['Role', 'gone'], user('gina')),
  ].map(
    (object) =>
      [
        object.kind === 'RoleBinding' ? `${IN_NAMESPACE}/rolebindings` : `${RBAC_PATH}/clusterrolebindings`,
        object,
      ] as const,
  ),
];

export const AUTHN = 'authentication.k8s.io/v1';

/** Headers of a request that is made as somebody else. */
export const as = (name: string, ...groups: string[]): string[] => [
  'Impersonate-User',
  name,
  ...groups.flatMap((each) => ['Impersonate-Group', each]),
];
