import type { Logger } from '../base/logger.js';
import type { JsonObject } from '../kube/json.js';
import { nameOf } from '../kube/metadata-of.js';
import { defaultRbacObjects, reconcileBinding, reconcileRole } from './authorization/default-roles.js';
import { RBAC_GROUP } from './authorization/policy-rule.js';
import type { InternalClient } from './contracts/internal-client.js';
import type { ObjectReader } from './contracts/object-reader.js';

export interface BootstrapOptions {
  readonly client: InternalClient;
  /** Must have read namespaces, roles and bindings. */
  readonly objects: ObjectReader;
  readonly nowMs: number;
  readonly logger: Logger;
  readonly serviceCidr: string;
  /** The Kubernetes version, on which the default roles depend: 36 for 1.36. */
  readonly minor: number;
  /** PEM of the certificate authorities of clients; undefined without. */
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

const RBAC = `/apis/${RBAC_GROUP}/v1`;

/** Creates the missing system objects of a cluster. Several servers may do so at once. */
export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const missing = SYSTEM_NAMESPACES.filter((name) => !options.objects.get(NAMESPACES, '', name));
  await Promise.all(
    missing.map((name) =>
      ensure(options, '/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }),
    ),
  );
  await Promise.all([
    ...[...defaultRbacObjects(options.minor), ...STRADDLE_RIGHTS].map((wanted) => reconcile(options, wanted)),
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

/** The Service of the API server, with the first address of the range. */
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

/** The rights of Straddle's users: for leases and finding peers, and for the controllers. */
const STRADDLE_RIGHTS: readonly JsonObject[] = [
  ...granted('system:straddle', 'kube-system', [
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    },
  ]),
  ...granted('system:straddle', 'default', [
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
  ]),
  ...granted('system:straddle-controllers', undefined, [
    {
      apiGroups: ['*'],
      resources: ['*'],
      verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'],
    },
    { apiGroups: [''], resources: ['serviceaccounts', 'configmaps', 'events'], verbs: ['create'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    { nonResourceURLs: ['/api', '/apis'], verbs: ['get'] },
  ]),
];

/** Makes a role, of a namespace or the cluster, and its binding to the user of that name. */
function granted(name: string, namespace: string | undefined, rules: JsonObject[]): JsonObject[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const common = {
    apiVersion: `${RBAC_GROUP}/v1`,
    metadata: namespace === undefined ? { name } : { name, namespace },
  };
  const roleRef = { apiGroup: RBAC_GROUP, kind, name };
  const subjects = [{ apiGroup: RBAC_GROUP, kind: 'User', name }];
  return [
    { ...common, kind, rules },
    { ...common, kind: `${kind}Binding`, roleRef, subjects },
  ];
}

function priorityClass(name: string, value: number, description: string): JsonObject {
  return { kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name }, value, description };
}

/** The ConfigMap from which aggregated API servers read how a front proxy authenticates. */
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

/** The ConfigMap with the date since which the use of tokens in Secrets is tracked. */
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

/** Adds missing rights to default roles, unless updates of a role are switched off. */
async function reconcile({ client, objects, logger }: BootstrapOptions, wanted: JsonObject): Promise<void> {
  const resource = `${String(wanted['kind']).toLowerCase()}s`;
  const namespace = (wanted['metadata'] as JsonObject)['namespace'];
  // From the caches: a server on a store that has all of them must be ready at once.
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
  if (next?.action === 'update') await client.request('PUT', path, next.object);
  if (next?.action !== 'recreate') return;
  // The role of a binding is immutable.
  await client.request('DELETE', path);
  await client.request('POST', collection, next.object);
}
