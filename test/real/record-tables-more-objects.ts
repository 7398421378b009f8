import type { JsonObject } from '../../src/kube/json.js';
import type { TableObjects } from './record-tables-objects.js';

const meta = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more } });
const spec = (name: string, value: JsonObject, status?: JsonObject): JsonObject => ({
  ...meta(name),
  spec: value,
  ...(status === undefined ? {} : { status }),
});

function of(path: string, ...objects: JsonObject[]): TableObjects {
  const parts = path.split('/');
  const [group, version, resource] = parts.length === 3 ? parts : ['', ...parts];
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return { group: group!, resource: resource!, path: `${root}/${resource}`, objects };
}

function inDefault(path: string, ...objects: JsonObject[]): TableObjects {
  const { path: place, resource, ...rest } = of(path, ...objects);
  return { ...rest, resource, path: place.replace(`/${resource}`, `/namespaces/default/${resource}`) };
}

const definition = (plural: string, scope: string, names: JsonObject, versions: JsonObject[]): JsonObject =>
  spec(`${plural}.tables.test`, {
    group: 'tables.test',
    scope,
    names: { plural, ...names },
    versions: versions.map((each) => ({ ...each, schema: { openAPIV3Schema: { type: 'object' } } })),
  });

const addresses = (...ips: string[]): JsonObject[] => ips.map((ip) => ({ ip }));
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const resource = (name: string, target: JsonObject): JsonObject => ({ type: 'Resource', resource: { name, target } });
const backend = { service: { name: 's', port: { number: 80 } } };
const container = { name: 'a', image: 'a:1' };
const roleRef = { kind: 'ClusterRole', name: 'view', apiGroup: 'rbac.authorization.k8s.io' };
const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];

/** Kinds of which kube-apiserver's cells are mostly plain fields. */
export const MORE_TABLE_OBJECTS: readonly TableObjects[] = [
  inDefault(
    'v1/endpoints',
    { ...meta('none') },
    { ...meta('few'), subsets: [{ addresses: addresses('10.1.1.1', 'fd00::1'), ports: [{ port: 80 }] }] },
    {
      ...meta('many'),
      subsets: [
        {
          addresses: addresses('10.1.1.1', '10.1.1.2'),
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
        { addresses: addresses('10.1.1.3') },
      ],
    },
  ),
  inDefault(
    'discovery.k8s.io/v1/endpointslices',
    { ...meta('none'), addressType: 'IPv4', endpoints: [] },
    {
      ...meta('many'),
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.1.1', '10.1.1.2'] }, { addresses: ['10.1.1.3'] }, { addresses: ['10.1.1.4'] }],
      ports: [{ name: 'a', port: 80 }, { name: 'b' }],
    },
  ),
  inDefault(
    'networking.k8s.io/v1/ingresses',
    spec('bare', { defaultBackend: backend }),
    spec(
      'hosts',
      {
        ingressClassName: 'c',
        tls: [{ hosts: ['a.test'] }],
        rules: ['a.test', 'b.test', 'c.test', 'd.test', 'e.test'].map((host) => ({ host })),
      },
      { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'h.test' }] } },
    ),
  ),
  of('networking.k8s.io/v1/ingressclasses', spec('plain', { controller: 'a.test/b' }), {
    ...meta('usual', { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }),
    spec: { controller: 'a.test/b', parameters: { apiGroup: 'g.test', kind: 'K', name: 'n' } },
  }),
  of(
    'networking.k8s.io/v1/ipaddresses',
    spec('10.97.0.9', { parentRef: { resource: 'services', namespace: 'n', name: 's' } }),
  ),
  of('networking.k8s.io/v1/servicecidrs', spec('more', { cidrs: ['10.98.0.0/24'] })),
  of(
    'v1/persistentvolumes',
    spec('free', {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
      hostPath: { path: '/x' },
    }),
    spec(
      'bound',
      {
        capacity: { storage: '2Gi' },
        accessModes: ['ReadOnlyMany'],
        nfs: { server: 's', path: '/p' },
        storageClassName: 'c',
        claimRef: { namespace: 'default', name: 'p' },
      },
      { phase: 'Bound', reason: 'R' },
    ),
  ),
  inDefault(
    'v1/persistentvolumeclaims',
    spec('waiting', { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }),
    spec(
      'bound',
      {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'v',
        storageClassName: 'c',
      },
      { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    ),
    {
      ...spec('leaving', { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } }),
      deleted: true,
    },
  ),
  of(
    'storage.k8s.io/v1/storageclasses',
    { ...meta('plain'), provisioner: 'a.test/b' },
    {
      ...meta('usual', { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }),
      provisioner: 'a.test/b',
      allowVolumeExpansion: true,
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  ),
  of(
    'storage.k8s.io/v1/csidrivers',
    spec('plain.test', {}),
    spec('full.test', {
      attachRequired: false,
      tokenRequests: [{ audience: 'a' }],
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
    }),
  ),
  of('storage.k8s.io/v1/csinodes', spec('n', { drivers: [{ name: 'd.test', nodeID: 'n', topologyKeys: [] }] })),
  inDefault(
    'storage.k8s.io/v1/csistoragecapacities',
    { ...meta('c'), storageClassName: 's', capacity: '1Gi' },
    { ...meta('none'), storageClassName: 's' },
  ),
  of(
    'storage.k8s.io/v1/volumeattachments',
    spec('a', { attacher: 'a.test', nodeName: 'n', source: { persistentVolumeName: 'p' } }, { attached: true }),
  ),
  of('storage.k8s.io/v1/volumeattributesclasses', { ...meta('v'), driverName: 'd.test', parameters: { a: 'b' } }),
  inDefault(
    'rbac.authorization.k8s.io/v1/rolebindings',
    {
      ...meta('all'),
      roleRef,
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'default' },
        { kind: 'User', name: 'v' },
      ],
    },
    { ...meta('none'), roleRef },
  ),
  inDefault(
    'autoscaling/v2/horizontalpodautoscalers',
    spec('plain', { scaleTargetRef, maxReplicas: 3 }),
    spec(
      'measured',
      {
        scaleTargetRef,
        maxReplicas: 3,
        minReplicas: 2,
        metrics: [
          resource('cpu', { type: 'Utilization', averageUtilization: 50 }),
          resource('memory', { type: 'AverageValue', averageValue: '1Gi' }),
          { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '5' } } },
        ],
      },
      {
        currentReplicas: 2,
        desiredReplicas: 2,
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 20, averageValue: '1' } } },
          { type: 'Resource', resource: { name: 'memory', current: { averageValue: '2Gi' } } },
        ],
      },
    ),
  ),
  inDefault(
    'policy/v1/poddisruptionbudgets',
    spec(
      'min',
      { minAvailable: 1, selector: {} },
      { disruptionsAllowed: 2, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    ),
    spec('max', { maxUnavailable: '50%', selector: {} }),
  ),
  inDefault(
    'v1/resourcequotas',
    spec('empty', { hard: { pods: 1 } }),
    spec(
      'used',
      { hard: { pods: 1 } },
      { hard: { pods: '1', 'limits.cpu': '2', 'requests.cpu': '1' }, used: { pods: '1' } },
    ),
  ),
  inDefault('v1/limitranges', spec('r', { limits: [{ type: 'Pod', max: { cpu: 1 } }] })),
  inDefault('v1/podtemplates', {
    ...meta('t'),
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
  }),
  inDefault(
    'apps/v1/controllerrevisions',
    { ...meta('alone'), revision: 1, data: {} },
    {
      ...meta('owned', {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true }],
      }),
      revision: 2,
      data: {},
    },
  ),
  of('node.k8s.io/v1/runtimeclasses', { ...meta('r'), handler: 'h' }),
  of('flowcontrol.apiserver.k8s.io/v1/flowschemas'),
  of('flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'),
  of(
    'admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    spec('plain', { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] }),
    spec('with', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: 'true' }],
    }),
  ),
  of(
    'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    spec('plain', { policyName: 'p', validationActions: ['Deny'] }),
    spec('with', {
      policyName: 'p',
      validationActions: ['Deny'],
      paramRef: { name: 'x', parameterNotFoundAction: 'Allow' },
    }),
  ),
  inDefault(
    'resource.k8s.io/v1/resourceclaims',
    spec('c', { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c.test' } }] } }),
  ),
  of('resource.k8s.io/v1/deviceclasses', spec('d.test', {})),
  of(
    'apiextensions.k8s.io/v1/customresourcedefinitions',
    definition('widgets', 'Namespaced', { kind: 'Widget', shortNames: ['wi', 'wid'] }, [
      { name: 'v1', served: true, storage: true },
      { name: 'v1beta1', served: true, storage: false },
      { name: 'v1alpha1', served: false, storage: false },
    ]),
    definition('places', 'Cluster', { kind: 'Place' }, [
      { name: 'v1beta2', served: true, storage: false },
      { name: 'v1alpha3', served: true, storage: true },
    ]),
    // Its kind is taken by another one of the group.
    definition('wodgets', 'Namespaced', { kind: 'Widget' }, [{ name: 'v1', served: true, storage: true }]),
  ),
];
