import type { Logger } from '../base/logger.js';
import type { JsonObject } from '../kube/json.js';
import { nameOf } from '../kube/metadata-of.js';
import { defaultRbacObjects, reconcileBinding, reconcileRole } from './authorization/default-roles.js';
import type { InternalClient } from './contracts/internal-client.js';
import type { ObjectReader } from './contracts/object-reader.js';

export interface BootstrapOptions {
  readonly client: InternalClient;
  /** Has read the namespaces, roles and bindings that are there. */
  readonly objects: ObjectReader;
  readonly nowMs: number;
  readonly logger: Logger;
  readonly serviceCidr: string;
  /** PEM of the authorities that clients and front proxies are verified with; undefined without. */
  readonly clientCa: string | undefined;
  readonly requestHeader: {
    readonly ca: string | undefined;
    readonly allowedNames: readonly string[];
    readonly headers: RequestHeaders;
  };
}

interface RequestHeaders {
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const RBAC = `/apis/${RBAC_GROUP}/v1`;

/** Makes what every cluster has, where it is missing. Several servers may do so at once. */
export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const missing = SYSTEM_NAMESPACES.filter((name) => !options.objects.get(NAMESPACES, '', name));
  await Promise.all(
    missing.map((name) =>
      ensure(options, '/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }),
    ),
  );
  await Promise.all([
    ...[...defaultRbacObjects(), ...STRADDLE_RIGHTS].map((wanted) => reconcile(options, wanted)),
    ...PRIORITY_CLASSES.map((each) => ensure(options, '/apis/scheduling.k8s.io/v1/priorityclasses', each)),
    ensure(options, '/api/v1/namespaces/kube-system/configmaps', authenticationConfig(options)),
    ensure(options, '/api/v1/namespaces/kube-system/configmaps', tokenTracking(options.nowMs)),
    ensure(options, '/api/v1/namespaces/default/services', kubernetesService(options.serviceCidr)),
  ]);
}

const NAMESPACES = { group: '', resource: 'namespaces' };
const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const PRIORITY_CLASSES: readonly JsonObject[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  priorityClass(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
];

/** How clients inside a cluster name the API server: the first address of the range is kept for it. */
function kubernetesService(serviceCidr: string): JsonObject {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      ...firstAddress(serviceCidr),
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
      sessionAffinity: 'None',
    },
  };
}

function firstAddress(cidr: string): { readonly clusterIP?: string } {
  const [, start, last] = /^(\d+\.\d+\.\d+\.)(\d+)\//.exec(cidr) ?? [];
  return start === undefined ? {} : { clusterIP: `${start}${Number(last) + 1}` };
}

/** Straddle's own user, as which servers ask each other: it keeps a lease and finds its peers. */
const STRADDLE_RIGHTS: readonly JsonObject[] = [
  ...straddleRights('kube-system', [
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    },
  ]),
  ...straddleRights('default', [
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
  ]),
  ...controllerRights(),
];

/** Controllers read and delete whatever there is, settle finalizers and owners on it, and make very little. */
function controllerRights(): JsonObject[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const name = 'system:straddle-controllers';
  const rules = [
    {
      apiGroups: ['*'],
      resources: ['*'],
      verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    },
    { apiGroups: [''], resources: ['serviceaccounts', 'configmaps', 'events'], verbs: ['create'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    { nonResourceURLs: ['/api', '/apis'], verbs: ['get'] },
  ];
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'User', name }],
    },
  ];
}

function straddleRights(namespace: string, rules: JsonObject[]): JsonObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: 'system:straddle', namespace };
  const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:straddle' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'system:straddle' };
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: [subject] },
  ];
}

function priorityClass(name: string, value: number, description: string): JsonObject {
  return { kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name }, value, description };
}

/** Where aggregated API servers read how to tell a front proxy. */
function authenticationConfig({ clientCa, requestHeader }: BootstrapOptions): JsonObject {
  const { ca, allowedNames, headers } = requestHeader;
  const data: JsonObject = {
    ...(clientCa === undefined ? {} : { 'client-ca-file': clientCa }),
    ...(ca === undefined
      ? {}
      : {
          'requestheader-client-ca-file': ca,
          'requestheader-allowed-names': JSON.stringify(allowedNames),
          'requestheader-username-headers': JSON.stringify(headers.usernameHeaders),
          'requestheader-uid-headers': JSON.stringify(headers.uidHeaders),
          'requestheader-group-headers': JSON.stringify(headers.groupHeaders),
          'requestheader-extra-headers-prefix': JSON.stringify(headers.extraHeaderPrefixes),
        }),
  };
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data,
  };
}

/** Since when it is known whether tokens in secrets are used: a controller cleans up those that are not. */
function tokenTracking(nowMs: number): JsonObject {
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
    data: { since: new Date(nowMs).toISOString().slice(0, 10) },
  };
}

async function ensure({ client, logger }: BootstrapOptions, collection: string, object: JsonObject): Promise<void> {
  if ((await client.request('GET', `${collection}/${nameOf(object)}`)).status === 200) return;
  const { status, body } = await client.request('POST', collection, object);
  if (status !== 201 && status !== 409)
    logger.warn('a system object could not be made', {
      name: nameOf(object),
      collection,
      why: String(body['message']),
    });
}

/** Default roles get what they lack; what an operator added, or switched off, stays. */
async function reconcile({ client, objects, logger }: BootstrapOptions, wanted: JsonObject): Promise<void> {
  const resource = `${String(wanted['kind']).toLowerCase()}s`;
  const namespace = (wanted['metadata'] as JsonObject)['namespace'];
  // Read, not asked for: a server that starts on a store that has it all should be ready at once.
  const live = objects.get({ group: RBAC_GROUP, resource }, String(namespace ?? ''), nameOf(wanted));
  const collection = namespace === undefined ? `${RBAC}/${resource}` : `${RBAC}/namespaces/${namespace}/${resource}`;
  const path = `${collection}/${encodeURIComponent(nameOf(wanted))}`;
  if (live === undefined) {
    const made = await client.request('POST', collection, wanted);
    if (made.status !== 201 && made.status !== 409)
      logger.warn('a default role could not be made', { path, why: String(made.body['message']) });
    return;
  }
  if (!resource.endsWith('bindings')) {
    const next = reconcileRole(live, wanted);
    if (next !== undefined) await client.request('PUT', path, next);
    return;
  }
  const next = reconcileBinding(live, wanted);
  // What a binding leads to can't be changed.
  if (next?.action === 'recreate') await client.request('DELETE', path);
  if (next)
    await client.request(
      next.action === 'recreate' ? 'POST' : 'PUT',
      next.action === 'recreate' ? collection : path,
      next.object,
    );
}
