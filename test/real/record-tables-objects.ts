import type { Json, JsonObject } from '../../src/kube/json.js';

export interface TableObjects {
  readonly group: string;
  readonly resource: string;
  readonly path: string;
  /** `status` is written to the subresource; `deleted: true` asks for a deletion (finalizers keep the object). */
  readonly objects: readonly JsonObject[];
}

const DEFAULT = '/api/v1/namespaces/default';
const LABELS = { app: 'x' };

const meta = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more } });
const container = (name: string): JsonObject => ({ name, image: `${name}:1` });
const template = (...names: string[]): JsonObject => ({
  metadata: { labels: LABELS },
  spec: { containers: names.map(container), restartPolicy: 'Always' },
});

function pod(name: string, status: Json, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    ...meta(name, metadata),
    spec: { containers: [container('a'), container('b')], automountServiceAccountToken: false, ...spec },
    status,
  };
}

function containerStatus(name: string, state: JsonObject, more: JsonObject = {}): JsonObject {
  return { name, image: 'x', imageID: '', ready: false, restartCount: 0, state, ...more };
}

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const terminated = (exitCode: number, more: JsonObject = {}): JsonObject => ({ terminated: { exitCode, ...more } });
const initContainers = [container('i1'), { ...container('side'), restartPolicy: 'Always' }, container('i2')];
const condition = (type: string, status = 'True', reason = ''): JsonObject => ({ type, status, reason });

const PODS: JsonObject[] = [
  pod('pending', { phase: 'Pending' }),
  pod('running', {
    phase: 'Running',
    podIPs: [{ ip: '10.1.2.3' }],
    podIP: '10.1.2.3',
    conditions: [condition('Ready')],
    containerStatuses: [containerStatus('a', running, { ready: true }), containerStatus('b', running, { ready: true })],
  }),
  pod('crashing', {
    phase: 'Running',
    containerStatuses: [
      containerStatus(
        'a',
        { waiting: { reason: 'CrashLoopBackOff' } },
        { restartCount: 5, lastState: terminated(1, { finishedAt: '2026-11-01T00:00:00Z' }) },
      ),
      containerStatus('b', running, { ready: true }),
    ],
  }),
  pod('completed', {
    phase: 'Succeeded',
    containerStatuses: [containerStatus('a', terminated(0, { reason: 'Completed' }))],
  }),
  pod('failed', {
    phase: 'Failed',
    containerStatuses: [containerStatus('a', terminated(3)), containerStatus('b', terminated(0, { signal: 9 }))],
  }),
  pod('half', {
    phase: 'Running',
    containerStatuses: [
      containerStatus('a', terminated(0, { reason: 'Completed' })),
      containerStatus('b', running, { ready: true }),
    ],
  }),
  pod('evicted', { phase: 'Failed', reason: 'Evicted' }),
  pod(
    'starting',
    { phase: 'Pending', initContainerStatuses: [containerStatus('i1', running, { restartCount: 2 })] },
    { initContainers },
  ),
  pod(
    'init-broken',
    { phase: 'Pending', initContainerStatuses: [containerStatus('i1', terminated(4))] },
    { initContainers },
  ),
  pod(
    'init-waits',
    { phase: 'Pending', initContainerStatuses: [containerStatus('i1', { waiting: { reason: 'ErrImagePull' } })] },
    { initContainers },
  ),
  pod(
    'with-sidecar',
    {
      phase: 'Running',
      conditions: [condition('Initialized')],
      initContainerStatuses: [
        containerStatus('i1', terminated(0), { restartCount: 7 }),
        containerStatus('side', running, { ready: true, started: true, restartCount: 1 }),
        containerStatus('i2', terminated(0)),
      ],
      containerStatuses: [containerStatus('a', running, { ready: true, restartCount: 1 })],
    },
    { initContainers },
  ),
  pod('gated', { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] }),
  pod(
    'gates',
    { phase: 'Running', conditions: [condition('x/y')] },
    { readinessGates: [{ conditionType: 'x/y' }, { conditionType: 'x/z' }], nodeName: 'node-1' },
  ),
  { ...pod('leaving', { phase: 'Running' }, {}, { finalizers: ['a.b/c'] }), deleted: true },
  { ...pod('lost', { phase: 'Running', reason: 'NodeLost' }, {}, { finalizers: ['a.b/c'] }), deleted: true },
];

const service = (name: string, spec: JsonObject, status?: JsonObject): JsonObject => ({
  ...meta(name),
  spec: {
    ports: [
      { port: 80, name: 'a' },
      { port: 53, protocol: 'UDP', name: 'b' },
    ],
    ...spec,
  },
  ...(status === undefined ? {} : { status }),
});

const job = (name: string, spec: JsonObject, status?: JsonObject): JsonObject => ({
  ...meta(name),
  spec: { template: { ...template('a'), spec: { containers: [container('a')], restartPolicy: 'Never' } }, ...spec },
  ...(status === undefined ? {} : { status }),
});

const STARTED = { startTime: '2026-11-01T00:00:00Z' };
const selector = { matchLabels: LABELS, matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'a'] }] };
const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default', fieldPath: 'spec.containers{a}' };

export const TABLE_OBJECTS: readonly TableObjects[] = [
  { group: '', resource: 'serviceaccounts', path: `${DEFAULT}/serviceaccounts`, objects: [meta('default')] },
  { group: '', resource: 'pods', path: `${DEFAULT}/pods`, objects: PODS },
  {
    group: '',
    resource: 'configmaps',
    path: `${DEFAULT}/configmaps`,
    objects: [{ ...meta('one'), data: { a: '1' }, binaryData: { b: 'AAAA' } }, meta('none')],
  },
  { group: '', resource: 'secrets', path: `${DEFAULT}/secrets`, objects: [{ ...meta('one'), stringData: { a: '1' } }] },
  { group: '', resource: 'namespaces', path: '/api/v1/namespaces', objects: [] },
  {
    group: '',
    resource: 'services',
    path: `${DEFAULT}/services`,
    objects: [
      service('cluster', { selector: { b: '2', a: '1' }, clusterIP: '10.96.1.1' }),
      service('headless', { clusterIP: 'None', ports: [] }),
      service('named', { type: 'ExternalName', externalName: 'a.example.com', ports: [] }),
      service('nodes', {
        type: 'NodePort',
        clusterIP: '10.96.1.2',
        ports: [{ port: 80, nodePort: 30080 }],
        externalIPs: ['1.2.3.4'],
      }),
      service('waiting', { type: 'LoadBalancer', clusterIP: '10.96.1.3', ports: [{ port: 80, nodePort: 30081 }] }),
      service(
        'balanced',
        {
          type: 'LoadBalancer',
          clusterIP: '10.96.1.4',
          ports: [{ port: 80, nodePort: 30082 }],
          externalIPs: ['9.9.9.9'],
        },
        { loadBalancer: { ingress: [{ ip: '5.6.7.8' }, { hostname: 'a.b' }] } },
      ),
    ],
  },
  {
    group: '',
    resource: 'nodes',
    path: '/api/v1/nodes',
    objects: [
      meta('bare'),
      {
        ...meta('full', { labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'edge' } }),
        spec: { unschedulable: true },
        status: {
          conditions: [condition('Ready')],
          addresses: [
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'ExternalIP', address: '1.1.1.1' },
          ],
          nodeInfo: {
            kubeletVersion: 'v1.36.4',
            osImage: 'os',
            kernelVersion: '6.1',
            architecture: 'amd64',
            containerRuntimeVersion: 'containerd://2',
            machineID: '',
            systemUUID: '',
            bootID: '',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
          },
        },
      },
      { ...meta('down'), status: { conditions: [condition('Ready', 'Unknown')] } },
    ],
  },
  {
    group: '',
    resource: 'events',
    path: `${DEFAULT}/events`,
    objects: [
      {
        ...meta('old'),
        involvedObject,
        type: 'Normal',
        reason: 'R',
        message: ' m \n',
        source: { component: 'c', host: 'h' },
        count: 3,
        firstTimestamp: '2026-11-01T00:00:00Z',
        lastTimestamp: '2026-11-02T00:00:00Z',
      },
      {
        ...meta('new'),
        involvedObject: { ...involvedObject, fieldPath: '' },
        type: 'Warning',
        reason: 'R',
        message: 'm',
        reportingComponent: 'a.b/c',
        reportingInstance: 'i',
        action: 'A',
        eventTime: '2026-11-03T00:00:00.000000Z',
      },
      {
        ...meta('series'),
        involvedObject,
        type: 'Normal',
        reason: 'R',
        message: 'm',
        reportingComponent: 'a.b/c',
        reportingInstance: 'i',
        action: 'A',
        eventTime: '2026-11-03T00:00:00.000000Z',
        series: { count: 8, lastObservedTime: '2026-11-04T00:00:00.000000Z' },
      },
    ],
  },
  { group: 'events.k8s.io', resource: 'events', path: '/apis/events.k8s.io/v1/namespaces/default/events', objects: [] },
  {
    group: 'apps',
    resource: 'deployments',
    path: '/apis/apps/v1/namespaces/default/deployments',
    objects: [
      {
        ...meta('d'),
        spec: { replicas: 3, selector, template: template('a', 'b') },
        status: { replicas: 3, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
    ],
  },
  {
    group: 'apps',
    resource: 'replicasets',
    path: '/apis/apps/v1/namespaces/default/replicasets',
    objects: [
      {
        ...meta('r'),
        spec: { replicas: 2, selector, template: template('a') },
        status: { replicas: 2, readyReplicas: 1 },
      },
    ],
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    path: '/apis/apps/v1/namespaces/default/statefulsets',
    objects: [
      {
        ...meta('s'),
        spec: { serviceName: 's', replicas: 2, selector, template: template('a') },
        status: { replicas: 2, readyReplicas: 1 },
      },
    ],
  },
  {
    group: 'apps',
    resource: 'daemonsets',
    path: '/apis/apps/v1/namespaces/default/daemonsets',
    objects: [
      {
        ...meta('d'),
        spec: { selector, template: template('a') },
        status: {
          desiredNumberScheduled: 5,
          currentNumberScheduled: 4,
          numberReady: 3,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
          numberMisscheduled: 0,
        },
      },
    ],
  },
  {
    group: 'batch',
    resource: 'jobs',
    path: '/apis/batch/v1/namespaces/default/jobs',
    objects: [
      job('new', {}),
      job('busy', { completions: 5, parallelism: 2 }, { ...STARTED, active: 1, succeeded: 2 }),
      job('wide', { parallelism: 3 }, { ...STARTED, active: 3 }),
      job('held', { suspend: true }, { conditions: [condition('Suspended')] }),
    ],
  },
  {
    group: 'batch',
    resource: 'cronjobs',
    path: '/apis/batch/v1/namespaces/default/cronjobs',
    objects: [
      {
        ...meta('c'),
        spec: {
          schedule: '* * * * *',
          timeZone: 'Etc/UTC',
          jobTemplate: { spec: { template: { spec: { containers: [container('a')], restartPolicy: 'Never' } } } },
        },
        status: {
          lastScheduleTime: '2026-11-01T00:00:00Z',
          active: [{ kind: 'Job', name: 'j', namespace: 'default' }],
        },
      },
      {
        ...meta('d'),
        spec: {
          schedule: '* * * * *',
          suspend: true,
          jobTemplate: { spec: { template: { spec: { containers: [container('a')], restartPolicy: 'Never' } } } },
        },
      },
    ],
  },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    path: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    objects: [meta('free'), { ...meta('held'), spec: { holderIdentity: 'me' } }],
  },
  {
    group: 'networking.k8s.io',
    resource: 'networkpolicies',
    path: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    objects: [
      { ...meta('n'), spec: { podSelector: selector } },
      { ...meta('all'), spec: { podSelector: {} } },
    ],
  },
  {
    group: 'scheduling.k8s.io',
    resource: 'priorityclasses',
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    objects: [],
  },
  {
    group: 'apiregistration.k8s.io',
    resource: 'apiservices',
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    objects: [
      {
        ...meta('v1.far.example.com'),
        spec: {
          group: 'far.example.com',
          version: 'v1',
          groupPriorityMinimum: 10,
          versionPriority: 10,
          insecureSkipTLSVerify: true,
          service: { name: 's', namespace: 'default' },
        },
      },
    ],
  },
  {
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
    path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    objects: [meta('none')],
  },
  {
    group: 'rbac.authorization.k8s.io',
    resource: 'roles',
    path: '/apis/rbac.authorization.k8s.io/v1/roles',
    objects: [],
  },
  {
    group: '',
    resource: 'replicationcontrollers',
    path: `${DEFAULT}/replicationcontrollers`,
    objects: [{ ...meta('r'), spec: { replicas: 0, selector: LABELS, template: template('a') } }],
  },
];
