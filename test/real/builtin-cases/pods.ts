import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec } from './case.js';

const pod = kind('v1/pods', { apiVersion: 'v1', kind: 'Pod' });
const c = (more: JsonObject = {}): JsonObject => ({ name: 'c', image: 'nginx', ...more });
const one = (container: JsonObject, more: JsonObject = {}): JsonObject => spec({ containers: [c(container)], ...more });
const many = 'a'.repeat(70);

export const POD_CASES = [
  pod(
    'minimal',
    one({}),
    merge({ spec: { activeDeadlineSeconds: 30 } }),
    merge({ spec: { containers: [c({ image: 'x:1' })] } }),
  ),
  pod('tag', one({ image: 'nginx:1.27' })),
  pod('digest', one({ image: 'nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' })),
  pod('limits only', one({ resources: { limits: { cpu: '0.5', memory: '1024Mi', 'example.com/gpu': 2 } } })),
  pod('guaranteed', one({ resources: { limits: { cpu: 1, memory: '1Gi' } } })),
  pod('burstable', one({ resources: { requests: { cpu: '100m' } } })),
  pod('pod level resources', one({}, { resources: { limits: { cpu: '2', memory: '1Gi' } } })),
  pod(
    'probes',
    one({
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 5 },
      startupProbe: { grpc: { port: 9000 } },
      lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { httpGet: { port: 80, path: 'x' } } },
    }),
  ),
  pod(
    'env',
    one({
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'E', value: '' },
      ],
      envFrom: [{ configMapRef: { name: 'x' } }, { prefix: 'P_', secretRef: { name: 'y', optional: true } }],
    }),
  ),
  pod('volumes', {
    metadata: { labels: { a: 'b' } },
    spec: {
      volumes: [
        { name: 'bare' },
        { name: 'empty', emptyDir: { sizeLimit: '1000Mi' } },
        { name: 'host', hostPath: { path: '/x' } },
        { name: 'secret', secret: { secretName: 's', items: [{ key: 'a', path: 'b' }] } },
        { name: 'config', configMap: { name: 'c' } },
        { name: 'down', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        {
          name: 'projected',
          projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { configMap: { name: 'c' } }] },
        },
        { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
        {
          name: 'ephemeral',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
        { name: 'image', image: { reference: 'x:1' } },
        { name: 'nfs', nfs: { server: 's', path: '/p' } },
        { name: 'csi', csi: { driver: 'd.example.test' } },
        { name: 'iscsi', iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2001-04.com.example:storage.disk1', lun: 0 } },
        { name: 'rbd', rbd: { monitors: ['m'], image: 'i' } },
      ],
      containers: [
        c({
          volumeMounts: [
            { name: 'bare', mountPath: '/a' },
            { name: 'host', mountPath: '/b', readOnly: true },
          ],
        }),
      ],
    },
  }),
  pod(
    'host network',
    one({ ports: [{ containerPort: 80 }] }, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
  ),
  pod(
    'init and sidecar',
    spec({
      initContainers: [c({ name: 'i', resources: { limits: { cpu: 1 } } }), c({ name: 's', restartPolicy: 'Always' })],
      containers: [c()],
      restartPolicy: 'OnFailure',
    }),
  ),
  pod(
    'spread out',
    spec({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { a: 'b' } } },
          ],
        },
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
          },
        },
      },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { operator: 'Exists', key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      ],
      nodeSelector: { a: 'b' },
      securityContext: { runAsUser: 0, fsGroup: 1 },
      containers: [
        c({ securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN'] } }, tty: false, stdin: true }),
      ],
      priorityClassName: 'high',
      hostname: 'h',
      subdomain: 's',
    }),
  ),
  pod(
    'scheduled and labelled',
    one({}),
    merge({ metadata: { labels: { x: 'y' } } }),
    merge({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }, 'status'),
    merge({ status: { phase: 'Failed' } }),
  ),
  pod(
    'debugged',
    one({}),
    merge({ spec: { ephemeralContainers: [{ name: 'd', image: 'busybox' }] } }, 'ephemeralcontainers'),
    merge({ spec: { ephemeralContainers: [] } }, 'ephemeralcontainers'),
  ),
  pod(
    'resized',
    one({ resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } } }),
    merge(
      { spec: { containers: [c({ resources: { requests: { cpu: '150m' }, limits: { cpu: '300m' } } })] } },
      'resize',
    ),
    merge({ spec: { containers: [c({ resources: { requests: { cpu: '2m' } } })] } }),
  ),
  pod('of a builder', one({}, { serviceAccountName: 'builder' })),
  pod('of nobody', one({}, { serviceAccountName: 'nobody' })),
  pod('without a token', one({}, { automountServiceAccountToken: false })),
  pod('in a limited namespace', spec({ containers: [c()] }, { namespace: 'limited' })),
  pod(
    'greedy in a limited namespace',
    spec({ containers: [c({ resources: { limits: { cpu: '9' } } })] }, { namespace: 'limited' }),
  ),
  pod('in no namespace', spec({ containers: [c()] }, { namespace: 'missing' })),
  pod('in a leaving namespace', spec({ containers: [c()] }, { namespace: 'leaving' })),
  pod('of no priority class', one({}, { priorityClassName: 'none' })),
  pod('without containers', spec({})),
  pod('empty containers', spec({ containers: [] })),
  pod(
    'bad containers',
    spec({ containers: [{}, { name: 'A_b', image: ' x' }, c({ imagePullPolicy: 'Sometimes' }), c()] }),
  ),
  pod(
    'bad ports',
    one({
      ports: [
        { containerPort: 0 },
        { containerPort: 70000, protocol: 'X' },
        { containerPort: 80, name: 'UPPER' },
        { containerPort: 81, name: 'same' },
        { containerPort: 82, name: 'same' },
        { containerPort: 83, hostPort: 99999 },
      ],
    }),
  ),
  pod(
    'host port twice',
    one({
      ports: [
        { containerPort: 80, hostPort: 80 },
        { containerPort: 81, hostPort: 80 },
      ],
    }),
  ),
  pod(
    'bad mounts',
    one(
      {
        volumeMounts: [
          { name: 'none', mountPath: '/x' },
          { name: '', mountPath: '' },
          { name: 'v', mountPath: '/y' },
          { name: 'v', mountPath: '/y' },
        ],
      },
      {
        volumes: [
          { name: 'v' },
          { name: 'v' },
          { name: 'B!' },
          { name: 'two', emptyDir: {}, hostPath: { path: '/x' } },
        ],
      },
    ),
  ),
  pod(
    'bad volumes',
    one(
      {},
      {
        volumes: [
          { name: 'a', hostPath: { path: '' } },
          { name: 'b', secret: {} },
          { name: 'c', configMap: {} },
          { name: 'd', persistentVolumeClaim: { claimName: '' } },
          { name: 'e', nfs: { server: '', path: 'x' } },
          { name: 'f', hostPath: { path: '../x', type: 'Odd' } },
        ],
      },
    ),
  ),
  pod(
    'bad env',
    one({
      env: [
        { name: '' },
        { name: 'a=b', value: 'x' },
        { name: 'c', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'd', valueFrom: {} },
        { name: 'e', valueFrom: { fieldRef: { fieldPath: 'spec.foo' } } },
        { name: 'f', valueFrom: { secretKeyRef: { name: '', key: '' } } },
      ],
      envFrom: [{}, { configMapRef: { name: '' } }],
    }),
  ),
  pod('bad resources', one({ resources: { requests: { cpu: '2', memory: '-1', foo: 1 }, limits: { cpu: '1' } } })),
  pod(
    'more than its limit',
    one({ resources: { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '1', memory: '1Gi' } } }),
  ),
  pod(
    'bad probe',
    one({
      livenessProbe: {},
      readinessProbe: { httpGet: { port: 0 }, exec: { command: ['x'] } },
      startupProbe: { exec: {}, timeoutSeconds: -1 },
    }),
  ),
  pod(
    'success threshold',
    one({ livenessProbe: { exec: { command: ['x'] }, successThreshold: 2 }, lifecycle: { preStop: {} } }),
  ),
  pod(
    'bad policies',
    one(
      {},
      {
        restartPolicy: 'Sometimes',
        dnsPolicy: 'Odd',
        terminationGracePeriodSeconds: -1,
        activeDeadlineSeconds: 0,
        schedulerName: 'B!',
        nodeName: 'B!',
        hostname: 'B!',
        serviceAccountName: 'B!',
      },
    ),
  ),
  pod('dns none', one({}, { dnsPolicy: 'None' })),
  pod(
    'bad tolerations',
    one(
      {},
      {
        tolerations: [
          { operator: 'Odd', key: 'k' },
          { key: 'k', operator: 'Exists', value: 'v' },
          { effect: 'Odd', operator: 'Exists' },
          { key: 'k', tolerationSeconds: 1, effect: 'NoSchedule' },
          { value: 'v' },
        ],
      },
    ),
  ),
  pod(
    'bad affinity',
    one(
      {},
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
            ],
          },
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: '', labelSelector: { matchLabels: { a: '!' } } },
            ],
          },
        },
        topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Odd' }],
      },
    ),
  ),
  pod(
    'bad security',
    one(
      { securityContext: { privileged: true, allowPrivilegeEscalation: false, runAsUser: -1 } },
      { securityContext: { runAsUser: -5, fsGroup: -1, sysctls: [{ name: 'B!', value: 'x' }] } },
    ),
  ),
  pod('long names', one({ name: many }, { volumes: [{ name: many }] })),
  pod(
    'gated',
    one({}, { schedulingGates: [{ name: 'a.example.test/x' }] }),
    merge({ spec: { schedulingGates: null } }),
    merge({ spec: { schedulingGates: [{ name: 'b.example.test/x' }] } }),
  ),
  pod(
    'tolerations grow',
    one({}),
    merge({ spec: { tolerations: [] } }),
    merge({ spec: { terminationGracePeriodSeconds: 1 } }),
  ),
  pod(
    'bad hosts',
    one(
      {},
      {
        hostAliases: [{ ip: 'x', hostnames: ['B!'] }],
        imagePullSecrets: [{}],
        readinessGates: [{ conditionType: 'B!!' }],
        runtimeClassName: 'B!',
      },
    ),
  ),
  pod('runtime class missing', one({}, { runtimeClassName: 'none' })),
];
