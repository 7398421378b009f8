import type { Json, JsonObject } from '../../src/kube/json.js';

export interface CaseStep {
  readonly verb: 'create' | 'apply' | 'merge' | 'strategic' | 'json';
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly body: Json;
}

export interface ApplyCase {
  readonly name: string;
  readonly kind: keyof typeof RECORDED_KINDS;
  readonly steps: readonly CaseStep[];
}

export const RECORDED_KINDS = {
  ConfigMap: { path: '/api/v1/namespaces/default/configmaps' },
  Service: { path: '/api/v1/namespaces/default/services' },
  Deployment: { path: '/apis/apps/v1/namespaces/default/deployments' },
  Widget: { path: '/apis/example.com/v1/namespaces/default/widgets' },
} as const;

export const CUSTOM_RESOURCE: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                  plain: { type: 'array', items: { type: 'integer' } },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id', 'zone'],
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: {
                        id: { type: 'string' },
                        zone: { type: 'string', default: 'here' },
                        size: { type: 'integer' },
                        tags: { type: 'object', additionalProperties: { type: 'string' } },
                      },
                    },
                  },
                  whole: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    properties: { a: { type: 'string' }, b: { type: 'string' } },
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  port: { 'x-kubernetes-int-or-string': true },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const LAST_TEXT = `{"apiVersion":"v1","data":{"a":"1","b":"1","c":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"$NAME","namespace":"default"}}\n`;
const META = { name: '$NAME', namespace: 'default' };

function configMap(data?: Json, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...META, ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

function widget(spec: Json): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: META, spec };
}

function service(ports: Json): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: META,
    spec: { type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None', ports },
  };
}

function container(name: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    image: 'busybox',
    imagePullPolicy: 'Always',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...more,
  };
}

/** All that the server would default is there: what it adds is not what is recorded. */
function deployment(containers: Json, spec: JsonObject = { replicas: 1 }): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: META,
    spec: {
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: 'x' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      template: {
        metadata: { labels: { app: 'x' } },
        spec: {
          containers,
          dnsPolicy: 'ClusterFirst',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          terminationGracePeriodSeconds: 30,
          securityContext: {},
        },
      },
      ...spec,
    },
  };
}

const apply = (manager: string, body: Json, more: Partial<CaseStep> = {}): CaseStep => ({
  verb: 'apply',
  manager,
  body,
  ...more,
});
const force = { force: true };
const TIMES = { lastTransitionTime: '2030-01-01T00:00:00Z', lastUpdateTime: '2030-01-01T00:00:00Z' };
const podSpec = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const partialDeployment = (spec: JsonObject): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: META,
  spec,
});

export const APPLY_CASES: readonly ApplyCase[] = [
  {
    name: 'one applier adds, changes and drops keys',
    kind: 'ConfigMap',
    steps: [
      apply('one', configMap({ a: '1', b: '2' })),
      apply('one', configMap({ a: '1', b: '2' })),
      apply('one', configMap({ a: '3', c: '4' })),
      apply('one', configMap({})),
      apply('one', configMap()),
    ],
  },
  {
    name: 'two appliers share, conflict, force and leave',
    kind: 'ConfigMap',
    steps: [
      apply('one', configMap({ a: '1', b: '1', c: '1' })),
      apply('two', configMap({ a: '1', z: '1' })),
      apply('two', configMap({ a: '2' })),
      apply('two', configMap({ a: '2', b: '2', z: '1' })),
      apply('two', configMap({ a: '2', b: '2', z: '1' }), force),
      apply('one', configMap({ c: '1' })),
      apply('two', configMap({})),
      apply('one', configMap({ a: '9' })),
    ],
  },
  {
    name: 'an updater creates, an applier takes over',
    kind: 'ConfigMap',
    steps: [
      { verb: 'create', manager: 'maker', body: configMap({ a: '1', b: '1' }, { labels: { l: '1' } }) },
      apply('one', configMap({ a: '2', b: '1' })),
      apply('one', configMap({ a: '2', b: '1' }), force),
      apply('one', configMap({ b: '1' })),
      { verb: 'merge', manager: 'maker', body: { data: { b: null, n: '1' } } },
      { verb: 'merge', manager: 'other', body: { data: { n: '2' }, metadata: { annotations: { x: 'y' } } } },
      { verb: 'json', manager: 'other', body: [{ op: 'remove', path: '/data' }] },
    ],
  },
  {
    name: 'kubectl moves from client-side to server-side apply',
    kind: 'ConfigMap',
    steps: [
      {
        verb: 'create',
        manager: 'kubectl-client-side-apply',
        body: configMap({ a: '1', b: '1', c: '1' }, { annotations: { [LAST_APPLIED]: LAST_TEXT } }),
      },
      { verb: 'merge', manager: 'other', body: { data: { c: '2' } } },
      apply('kubectl', configMap({ a: '2', b: '1', c: '3' })),
      apply('kubectl', configMap({ b: '2', a: '5' })),
      apply('kubectl', configMap({ a: '6' })),
      apply('someone', configMap({ a: '7' })),
      { verb: 'merge', manager: 'other', body: { metadata: { annotations: { [LAST_APPLIED]: 'not json' } } } },
      apply('kubectl', configMap({ c: '4' })),
      apply('kubectl', configMap({ c: '4' }), force),
    ],
  },
  {
    name: 'metadata: labels, annotations, finalizers, owners',
    kind: 'ConfigMap',
    steps: [
      apply(
        'one',
        configMap(undefined, {
          labels: { a: '1' },
          annotations: { 'x/y': 'z' },
          finalizers: ['a.b/one'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u-1' }],
        }),
      ),
      apply(
        'two',
        configMap(undefined, {
          finalizers: ['a.b/two', 'a.b/one'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'u-2' }],
        }),
      ),
      apply('one', configMap(undefined, { labels: { a: '1' } })),
      apply('two', configMap()),
    ],
  },
  {
    name: 'nulls, empty maps and binary data',
    kind: 'ConfigMap',
    steps: [
      apply('one', configMap({ a: '1' }, { labels: {} })),
      apply('two', configMap(null)),
      apply('two', configMap({ b: '' })),
      apply('one', { ...configMap({ a: '1' }), binaryData: { x: 'AAAA' }, immutable: false }),
    ],
  },
  {
    name: 'managers that are cleared and what was before',
    kind: 'ConfigMap',
    steps: [
      { verb: 'create', manager: 'maker', body: configMap({ a: '1' }) },
      { verb: 'merge', manager: 'maker', body: { metadata: { managedFields: [{}] } } },
      { verb: 'merge', manager: 'maker', body: { data: { b: '1' } } },
      apply('one', configMap({ a: '2' })),
      apply('one', configMap({ a: '1' })),
      apply('one', configMap({ b: '2' }), force),
    ],
  },
  {
    name: 'more updaters than are kept',
    kind: 'ConfigMap',
    steps: [
      { verb: 'create', manager: 'm00', body: configMap({ k00: '1' }) },
      ...Array.from({ length: 12 }, (_, index): CaseStep => {
        const id = String(index + 1).padStart(2, '0');
        return { verb: 'merge', manager: `m${id}`, body: { data: { [`k${id}`]: '1' } } };
      }),
    ],
  },
  {
    name: 'what cannot be applied',
    kind: 'ConfigMap',
    steps: [
      apply('one', { ...configMap({ a: '1' }), foo: 1 }),
      apply('one', configMap({ a: 1 })),
      apply('one', configMap('text')),
      apply('one', { ...configMap({}), immutable: 'yes' }),
      apply('one', configMap([1])),
      apply('one', configMap({}, { finalizers: ['a.b/c', 'a.b/c'] })),
      apply('one', configMap({}, { managedFields: [] })),
      apply('one', { ...configMap({}), apiVersion: 'v2' }),
    ],
  },
  {
    name: 'a deployment of several managers',
    kind: 'Deployment',
    steps: [
      apply('one', deployment([container('web', { ports: [{ containerPort: 80, protocol: 'TCP' }] })])),
      apply('sizer', partialDeployment({ replicas: 3 })),
      apply('sizer', partialDeployment({ replicas: 3 }), force),
      apply('one', deployment([container('web')], {})),
      apply(
        'side',
        partialDeployment(podSpecOf([container('side', { args: ['a', 'b'], env: [{ name: 'A', value: '1' }] })])),
      ),
      apply('one', deployment([container('web', { ports: [{ containerPort: 81 }], command: ['x'] })], {})),
      apply(
        'side',
        partialDeployment(podSpecOf([container('side', { args: ['c'], env: [{ name: 'B', value: '1' }] })])),
      ),
      apply('side', partialDeployment(podSpecOf([{ name: 'web', image: 'other' }]))),
      apply('side', partialDeployment(podSpecOf([{ name: 'web', image: 'other' }])), force),
      apply('one', deployment([container('web', { image: 'third' })], {}), force),
      apply('side', partialDeployment({})),
    ],
  },
  {
    name: 'a deployment that is created and patched strategically',
    kind: 'Deployment',
    steps: [
      { verb: 'create', manager: 'maker', body: deployment([container('a'), container('b'), container('c')]) },
      {
        verb: 'strategic',
        manager: 'p1',
        body: podSpec({ containers: [{ name: 'b', image: 'new' }, container('n')] }),
      },
      { verb: 'strategic', manager: 'p2', body: podSpec({ containers: [{ name: 'a', $patch: 'delete' }] }) },
      {
        verb: 'strategic',
        manager: 'p3',
        body: podSpec({ '$setElementOrder/containers': [{ name: 'c' }, { name: 'n' }, { name: 'b' }] }),
      },
      {
        verb: 'strategic',
        manager: 'p4',
        body: podSpec({
          containers: [
            {
              name: 'c',
              env: [
                { name: 'X', value: '1' },
                { name: 'Y', value: '2' },
              ],
            },
          ],
        }),
      },
      {
        verb: 'strategic',
        manager: 'p4',
        body: podSpec({
          containers: [
            {
              name: 'c',
              env: [
                { name: 'Z', value: '3' },
                { name: 'X', value: '9' },
              ],
            },
          ],
        }),
      },
      { verb: 'strategic', manager: 'p5', body: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } } },
      { verb: 'strategic', manager: 'p5', body: podSpec({ containers: [container('only'), { $patch: 'replace' }] }) },
      { verb: 'strategic', manager: 'p6', body: { metadata: { finalizers: ['a.b/1', 'a.b/2'] } } },
      {
        verb: 'strategic',
        manager: 'p6',
        body: {
          metadata: {
            '$deleteFromPrimitiveList/finalizers': ['a.b/1'],
            finalizers: ['a.b/3'],
            '$setElementOrder/finalizers': ['a.b/3', 'a.b/2'],
          },
        },
      },
      {
        verb: 'strategic',
        manager: 'p7',
        body: podSpec({ tolerations: [{ key: 'a', operator: 'Exists' }], volumes: [{ name: 'v', emptyDir: {} }] }),
      },
      { verb: 'strategic', manager: 'p7', body: podSpec({ containers: [{ image: 'x' }] }) },
      { verb: 'strategic', manager: 'p7', body: podSpec({ containers: [{ name: 'only', $patch: 'odd' }] }) },
    ],
  },
  {
    name: 'status has its own managers',
    kind: 'Deployment',
    steps: [
      apply('one', deployment([container('web')])),
      {
        verb: 'merge',
        manager: 'controller',
        subresource: 'status',
        body: {
          status: {
            replicas: 1,
            conditions: [{ type: 'Available', status: 'True', reason: 'r', message: 'm', ...TIMES }],
          },
        },
      },
      apply(
        'reporter',
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: META,
          status: { conditions: [{ type: 'Other', status: 'True', reason: 'r', message: 'm', ...TIMES }] },
        },
        { subresource: 'status' },
      ),
      apply(
        'reporter',
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: META, status: { replicas: 2 } },
        { subresource: 'status' },
      ),
      apply('one', deployment([container('web')], { replicas: 2 })),
    ],
  },
  {
    name: 'ports by number and protocol',
    kind: 'Service',
    steps: [
      apply('one', service([{ name: 'a', port: 80, protocol: 'TCP', targetPort: 80 }])),
      apply('two', service([{ name: 'b', port: 80, protocol: 'UDP', targetPort: 'web' }])),
      apply('two', service([{ name: 'c', port: 80, targetPort: 80 }])),
      apply('one', service([{ name: 'd', port: 90, protocol: 'TCP', targetPort: 80 }])),
      { verb: 'strategic', manager: 'three', body: { spec: { ports: [{ port: 90, name: 'e' }] } } },
    ],
  },
  {
    name: 'lists and maps of a custom resource',
    kind: 'Widget',
    steps: [
      apply(
        'one',
        widget({ set: ['a', 'b'], plain: [1, 2], parts: [{ id: 'x', size: 1 }], whole: { a: '1' }, port: 80 }),
      ),
      apply('two', widget({ set: ['c', 'a'], parts: [{ id: 'y', zone: 'there', tags: { t: '1' } }, { id: 'x' }] })),
      apply('two', widget({ set: ['c'], whole: { b: '1' } })),
      apply('two', widget({ set: ['c'], whole: { b: '1' } }), force),
      apply('one', widget({ set: ['b'], plain: [2], parts: [{ id: 'x', size: 2 }], port: 'http' })),
      apply('two', widget({ free: { deep: { list: [1], map: { k: 'v' } }, n: null } })),
      apply('three', widget({ free: { deep: { map: { k: 'w' } } } })),
      apply('three', widget({ free: { deep: { map: { l: 'w' } } } })),
      { verb: 'merge', manager: 'four', body: { spec: { free: { deep: { list: [1, 2] } }, set: ['q', 'b'] } } },
      { verb: 'merge', manager: 'four', subresource: 'status', body: { status: { phase: 'up' } } },
    ],
  },
];

function podSpecOf(containers: Json): JsonObject {
  return { template: { spec: { containers } } };
}
