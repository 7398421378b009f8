import { kind, merge, spec, update } from './case.js';

const configMap = kind('v1/configmaps', { apiVersion: 'v1', kind: 'ConfigMap' });
const secret = kind('v1/secrets', { apiVersion: 'v1', kind: 'Secret' });
const account = kind('v1/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount' });
const namespace = kind('v1/namespaces', { apiVersion: 'v1', kind: 'Namespace' }, 'cluster');
const node = kind('v1/nodes', { apiVersion: 'v1', kind: 'Node' }, 'cluster');
const quota = kind('v1/resourcequotas', { apiVersion: 'v1', kind: 'ResourceQuota' });
const range = kind('v1/limitranges', { apiVersion: 'v1', kind: 'LimitRange' });
const event = kind('v1/events', { apiVersion: 'v1', kind: 'Event' });
const newEvent = kind('events.k8s.io/v1/events', { apiVersion: 'events.k8s.io/v1', kind: 'Event' });
const lease = kind('coordination.k8s.io/v1/leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
const priority = kind(
  'scheduling.k8s.io/v1/priorityclasses',
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' },
  'cluster',
);
const runtime = kind(
  'node.k8s.io/v1/runtimeclasses',
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' },
  'cluster',
);

export const CONFIG_CASES = [
  configMap(
    'minimal',
    { data: { a: '1' } },
    merge({ data: { b: '2' } }),
    merge({ immutable: true }),
    merge({ data: { a: '3' } }),
    merge({ immutable: null }),
    merge({ metadata: { labels: { a: 'b' } } }),
  ),
  configMap('empty', {}),
  configMap('bad keys', { data: { 'a b': '1', '..': '2', x: '3' }, binaryData: { x: 'AA==', y: 'AA==' } }),
  configMap('too big', { data: { a: 'x'.repeat(1024 * 1024 + 1) } }),
  secret(
    'minimal',
    { stringData: { a: 'b' } },
    merge({ stringData: { c: 'd' } }),
    merge({ type: 'other' }),
    merge({ immutable: true }),
    merge({ data: { a: 'AA==' } }),
  ),
  secret('both', { data: { a: 'AA==' }, stringData: { a: 'new' }, type: 'example.test/x' }),
  secret('tls', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'AA==' } }),
  secret('docker', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } }),
  secret('docker without', { type: 'kubernetes.io/dockercfg' }),
  secret('basic', { type: 'kubernetes.io/basic-auth', stringData: { other: 'x' } }),
  secret('ssh', { type: 'kubernetes.io/ssh-auth', stringData: { other: 'x' } }),
  secret('token', { type: 'kubernetes.io/service-account-token' }),
  secret('bad key', { stringData: { 'a b': 'x' } }),
  account('minimal', {}, merge({ automountServiceAccountToken: false, imagePullSecrets: [{ name: 'x' }] })),
  namespace(
    'minimal',
    {},
    merge({ metadata: { labels: { a: 'b' } } }),
    merge({ metadata: { labels: null } }),
    merge({ spec: { finalizers: [] } }),
    merge({ status: { phase: 'Terminating' } }, 'status'),
    update(
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'minimal' },
        spec: { finalizers: ['kubernetes', 'a.test/b'] },
      },
      'finalize',
    ),
    update(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'minimal' }, spec: { finalizers: ['odd'] } },
      'finalize',
    ),
  ),
  namespace('labelled', { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } }),
  namespace('phased', { spec: { finalizers: ['a.test/b'] }, status: { phase: 'Terminating' } }),
  node(
    'minimal',
    {},
    merge({ spec: { unschedulable: true } }),
    merge({ spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } }),
    merge({ spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } }),
    merge(
      {
        status: {
          capacity: { cpu: '4', memory: '8000Mi', pods: 110 },
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      },
      'status',
    ),
  ),
  node(
    'tainted',
    spec({ taints: [{ key: 'a', effect: 'NoSchedule' }], providerID: 'x://y' }),
    merge({ spec: { providerID: 'z' } }),
  ),
  node(
    'bad',
    spec({
      taints: [
        { key: 'a', effect: 'Odd' },
        { key: '', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
      ],
      podCIDR: 'x',
      podCIDRs: ['x'],
    }),
  ),
  quota(
    'minimal',
    spec({ hard: { pods: '10', 'requests.cpu': '1000m', 'count/widgets.a.test': 5 } }),
    merge({ spec: { hard: { pods: '11' } } }),
    merge({ status: { hard: { pods: '11' }, used: { pods: '1' } } }, 'status'),
  ),
  quota('bad', spec({ hard: { pods: '-1', foo: '1', 'requests.cpu': '1' }, scopes: ['Odd', 'BestEffort'] })),
  range(
    'minimal',
    spec({
      limits: [
        { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m' }, default: { memory: '1Gi' } },
        { type: 'Pod', max: { cpu: 4 } },
      ],
    }),
  ),
  range(
    'bad',
    spec({
      limits: [
        {
          type: 'Container',
          max: { cpu: '1' },
          min: { cpu: '2' },
          default: { cpu: '3' },
          defaultRequest: { cpu: '5' },
        },
        { type: 'Container' },
        { type: 'Pod', default: { cpu: '1' } },
        { type: 'PersistentVolumeClaim' },
      ],
    }),
  ),
  event(
    'minimal',
    {
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      message: 'm',
      type: 'Normal',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
      source: { component: 'c' },
    },
    merge({ count: 2 }),
  ),
  event('elsewhere', { involvedObject: { kind: 'Pod', name: 'p', namespace: 'other' } }),
  event('new fields', {
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
  }),
  newEvent(
    'minimal of the newer group',
    {
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      action: 'A',
      note: 'm',
      type: 'Normal',
      reportingController: 'a.test/c',
      reportingInstance: 'c-1',
    },
    merge({ series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' } }),
    merge({ reason: 'Q' }),
  ),
  newEvent('bad', { regarding: { kind: 'Pod', name: 'p', namespace: 'default' }, type: 'Odd' }),
  lease(
    'minimal',
    spec({ holderIdentity: 'x', leaseDurationSeconds: 10, renewTime: '2026-01-01T00:00:00.000000Z' }),
    merge({ spec: { holderIdentity: 'y' } }),
  ),
  lease('empty', {}),
  lease('bad', spec({ leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' })),
  priority(
    'minimal',
    { value: 5 },
    merge({ value: 6 }),
    merge({ description: 'x' }),
    merge({ preemptionPolicy: 'Never' }),
  ),
  priority('bad', { value: 2000000000, preemptionPolicy: 'Odd' }),
  priority('system', { metadata: { name: 'system-x' }, value: 1 }),
  runtime('minimal', { handler: 'h', scheduling: { nodeSelector: { a: 'b' } } }, merge({ handler: 'i' })),
  runtime('bad', { handler: 'B!', overhead: { podFixed: { cpu: '-1' } } }),
];
