import type { JsonObject } from '../../src/kube/json.js';

/** An object to create, and where. */
export interface ProtobufObject {
  readonly path: string;
  readonly object: JsonObject;
  /** Written to the subresource after that. */
  readonly status?: JsonObject;
}

const LABELS = { app: 'x', 'example.com/tier': '' };
const core = (resource: string): string => `/api/v1/namespaces/default/${resource}`;
const grouped = (groupVersion: string, resource: string): string =>
  `/apis/${groupVersion}/namespaces/default/${resource}`;
const meta = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more } });
const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'a', image: 'a:1' }] } };
const selector = { matchLabels: { app: 'x' } };
const AT = '2026-01-02T03:04:05Z';
const webhook = (name: string, more: JsonObject): JsonObject => ({
  name,
  clientConfig: { url: 'https://127.0.0.1:1/x', caBundle: 'AAEC' },
  rules: [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['nones'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

const POD: JsonObject = {
  ...meta('rich', { labels: LABELS, annotations: { 'a/b': 'ü☃' }, finalizers: ['example.com/f'] }),
  spec: {
    serviceAccountName: 'one',
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
    securityContext: { runAsUser: 0, runAsNonRoot: false, sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '' }] },
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
        ],
      },
    },
    dnsConfig: { options: [{ name: 'ndots', value: '' }, { name: 'edns0' }] },
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['a', 'b'] }],
    initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }],
    containers: [
      {
        name: 'a',
        image: 'a:1',
        args: ['', '--x'],
        env: [
          { name: 'E' },
          { name: 'F', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'R', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
        ],
        envFrom: [{ configMapRef: { name: 'c' } }],
        ports: [{ containerPort: 80, name: 'web' }],
        resources: { limits: { cpu: '1500m', memory: '1Gi' }, requests: { cpu: '0.5' } },
        livenessProbe: { httpGet: { port: 'web', path: '/', httpHeaders: [{ name: 'X', value: '' }] } },
        readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 5 },
        lifecycle: { preStop: { exec: { command: ['true'] } }, postStart: { sleep: { seconds: 1 } } },
        securityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: false },
        volumeMounts: [{ name: 'e', mountPath: '/e' }],
      },
    ],
    volumes: [
      { name: 'e', emptyDir: { sizeLimit: '100Mi' } },
      { name: 'e2', emptyDir: {} },
      { name: 'h', hostPath: { path: '/x', type: '' } },
      { name: 's', secret: { secretName: 's', items: [{ key: 'k', path: 'p', mode: 0 }] } },
      { name: 'c', configMap: { name: 'c', defaultMode: 0 } },
      { name: 'd', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'c' } }] } },
      {
        name: 'q',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
    ],
  },
};

const POD_STATUS: JsonObject = {
  phase: 'Running',
  podIP: '10.1.2.3',
  podIPs: [{ ip: '10.1.2.3' }],
  startTime: AT,
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    {
      name: 'a',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      started: false,
      state: { terminated: { exitCode: 0 } },
      lastState: { waiting: {} },
    },
  ],
};

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'number', minimum: 0, maximum: 10.5, default: 0 },
        any: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object', nullable: true },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        map: { type: 'object', additionalProperties: { type: 'string' }, default: { a: 'b' } },
        list: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
        word: { type: 'string', enum: ['', 'a'], example: { a: [null] }, externalDocs: { url: 'https://example.com' } },
      },
      'x-kubernetes-validations': [{ rule: 'self.size >= 0.0', message: 'no' }],
    },
  },
};
((SCHEMA['properties'] as JsonObject)['spec'] as { properties: Record<string, JsonObject> }).properties['list']![
  'items'
] = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };

export const PROTOBUF_OBJECTS: readonly ProtobufObject[] = [
  { path: core('serviceaccounts'), object: { ...meta('one'), automountServiceAccountToken: false } },
  { path: core('pods'), object: POD, status: POD_STATUS },
  { path: core('configmaps'), object: { ...meta('c'), data: { a: '', b: '1' }, binaryData: { z: 'AP8=', y: '' } } },
  { path: core('secrets'), object: { ...meta('s'), data: { k: 'AAEC' }, immutable: false } },
  {
    path: core('services'),
    object: {
      ...meta('web'),
      spec: {
        selector: LABELS,
        ports: [
          { name: 'a', port: 80, targetPort: 'web' },
          { name: 'b', port: 81 },
        ],
      },
    },
  },
  {
    path: core('endpoints'),
    object: { ...meta('manual'), subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 1 }] }] },
  },
  {
    path: core('replicationcontrollers'),
    object: { ...meta('rc'), spec: { replicas: 0, selector: LABELS, template } },
  },
  {
    path: core('limitranges'),
    object: { ...meta('lr'), spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } },
  },
  { path: core('resourcequotas'), object: { ...meta('rq'), spec: { hard: { pods: '10', 'requests.cpu': '1e3' } } } },
  {
    path: core('persistentvolumeclaims'),
    object: { ...meta('pvc'), spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  { path: core('podtemplates'), object: { ...meta('pt'), template } },
  {
    path: core('events'),
    object: {
      ...meta('ev'),
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'rich' },
      reason: 'R',
      count: 3,
      firstTimestamp: AT,
    },
  },
  {
    path: grouped('events.k8s.io/v1', 'events'),
    object: {
      ...meta('new'),
      eventTime: '2026-01-02T03:04:05.000600Z',
      action: 'A',
      reason: 'R',
      type: 'Normal',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      regarding: { kind: 'Pod', namespace: 'default', name: 'rich' },
    },
  },
  {
    path: '/api/v1/nodes',
    object: { ...meta('n'), spec: { taints: [{ key: 'k', effect: 'NoSchedule', timeAdded: AT }] } },
    status: {
      capacity: { cpu: '4', memory: '16Gi' },
      nodeInfo: { osImage: 'x' },
      images: [{ names: ['a'], sizeBytes: 9_007_199_254_740_991 }],
    },
  },
  {
    path: '/api/v1/persistentvolumes',
    object: {
      ...meta('pv'),
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteMany'],
        nfs: { server: 'x', path: '/' },
        claimRef: { name: 'pvc', namespace: 'default' },
      },
    },
  },
  {
    path: grouped('apps/v1', 'deployments'),
    object: {
      ...meta('d'),
      spec: { replicas: 0, selector, template, strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } } },
    },
    status: { conditions: [{ type: 'Progressing', status: 'True' }] },
  },
  {
    path: grouped('apps/v1', 'statefulsets'),
    object: {
      ...meta('st'),
      spec: { serviceName: '', selector, template, updateStrategy: { rollingUpdate: { partition: 0 } } },
    },
  },
  { path: grouped('apps/v1', 'daemonsets'), object: { ...meta('ds'), spec: { selector, template } } },
  {
    path: grouped('apps/v1', 'controllerrevisions'),
    object: { ...meta('cr'), revision: 3, data: { spec: { a: [1, { b: null }] } } },
  },
  {
    path: grouped('batch/v1', 'jobs'),
    object: {
      ...meta('j'),
      spec: {
        backoffLimit: 0,
        suspend: true,
        template: { spec: { ...template.spec, restartPolicy: 'Never' } },
        podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1, 300] } }] },
      },
    },
  },
  {
    path: grouped('batch/v1', 'cronjobs'),
    object: {
      ...meta('cj'),
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  },
  {
    path: grouped('autoscaling/v2', 'horizontalpodautoscalers'),
    object: {
      ...meta('h'),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1500m' } } },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 0, tolerance: '0.05' } },
      },
    },
  },
  {
    path: grouped('networking.k8s.io/v1', 'ingresses'),
    object: {
      ...meta('ing'),
      spec: {
        defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        rules: [
          {
            host: 'x.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'a' } } } }],
            },
          },
          { host: 'y.example.com' },
        ],
      },
    },
  },
  {
    path: grouped('networking.k8s.io/v1', 'networkpolicies'),
    object: {
      ...meta('np'),
      spec: {
        podSelector: {},
        ingress: [{}, { from: [{ namespaceSelector: {} }], ports: [{ port: 80, endPort: 90 }, { port: 'web' }] }],
      },
    },
  },
  {
    path: grouped('policy/v1', 'poddisruptionbudgets'),
    object: { ...meta('pdb'), spec: { minAvailable: '50%', selector } },
  },
  {
    path: grouped('coordination.k8s.io/v1', 'leases'),
    object: {
      ...meta('l'),
      spec: { holderIdentity: '', leaseDurationSeconds: 10, renewTime: '2026-01-02T03:04:05.123456Z' },
    },
  },
  {
    path: grouped('discovery.k8s.io/v1', 'endpointslices'),
    object: {
      ...meta('es'),
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false }, targetRef: { kind: 'Pod', name: 'rich' } }],
      ports: [{ name: '', port: 80 }],
    },
  },
  { path: grouped('rbac.authorization.k8s.io/v1', 'roles'), object: { ...meta('empty') } },
  {
    path: grouped('rbac.authorization.k8s.io/v1', 'rolebindings'),
    object: {
      ...meta('rb'),
      subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'Role', name: 'empty', apiGroup: 'rbac.authorization.k8s.io' },
    },
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: { ...meta('agg'), aggregationRule: { clusterRoleSelectors: [selector] }, rules: null },
  },
  {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    object: { ...meta('sc'), provisioner: 'example.com/p', allowVolumeExpansion: false, parameters: { a: '' } },
  },
  {
    path: '/apis/storage.k8s.io/v1/csinodes',
    object: {
      ...meta('n'),
      spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['z'], allocatable: { count: 0 } }] },
    },
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: { ...meta('low'), value: -5, preemptionPolicy: 'Never' },
  },
  {
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    object: { ...meta('rc'), handler: 'h', overhead: { podFixed: { cpu: '1m' } } },
  },
  {
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    object: { ...meta('m'), webhooks: [webhook('a.example.com', { timeoutSeconds: 1 })] },
  },
  {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    object: {
      ...meta('vap'),
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['*'], resources: ['nones'] },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    },
  },
  {
    path: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
    object: {
      ...meta('pl'),
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 0, lendablePercent: 0, limitResponse: { type: 'Reject' } },
      },
    },
  },
  {
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    object: {
      ...meta('v1.none.example.com'),
      spec: {
        group: 'none.example.com',
        version: 'v1',
        groupPriorityMinimum: 1,
        versionPriority: 1,
        insecureSkipTLSVerify: true,
        service: { name: 'x', namespace: 'default' },
      },
    },
  },
  {
    path: '/apis/resource.k8s.io/v1/deviceclasses',
    object: {
      ...meta('dc'),
      spec: {
        selectors: [{ cel: { expression: 'true' } }],
        config: [{ opaque: { driver: 'd.example.com', parameters: { kind: 'X', n: 1 } } }],
      },
    },
  },
  {
    path: grouped('resource.k8s.io/v1', 'resourceclaims'),
    object: {
      ...meta('rcl'),
      spec: {
        devices: {
          requests: [{ name: 'r', exactly: { deviceClassName: 'dc' } }],
          config: [{ requests: ['r'], opaque: { driver: 'd.example.com', parameters: {} } }],
        },
      },
    },
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      ...meta('gauges.proto.example.com'),
      spec: {
        group: 'proto.example.com',
        names: { plural: 'gauges', kind: 'Gauge' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: SCHEMA },
            subresources: { status: {} },
          },
        ],
      },
    },
  },
];
