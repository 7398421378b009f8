import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec } from './case.js';

const pod = kind('v1/pods', { apiVersion: 'v1', kind: 'Pod' });
const job = kind('batch/v1/jobs', { apiVersion: 'batch/v1', kind: 'Job' });
const statefulSet = kind('apps/v1/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet' });
const scaler = kind('autoscaling/v2/horizontalpodautoscalers', {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
});
const flow = kind(
  'flowcontrol.apiserver.k8s.io/v1/flowschemas',
  { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema' },
  'cluster',
);
const level = kind(
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration' },
  'cluster',
);
const claim = kind('v1/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
const volume = kind('v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume' }, 'cluster');
const resourceClaim = kind('resource.k8s.io/v1/resourceclaims', {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
});
const node = kind('v1/nodes', { apiVersion: 'v1', kind: 'Node' }, 'cluster');

const c = (more: JsonObject = {}): JsonObject => ({ name: 'c', image: 'nginx', ...more });
const one = (container: JsonObject, more: JsonObject = {}): JsonObject => spec({ containers: [c(container)], ...more });
const once = (more: JsonObject): JsonObject =>
  spec({ template: { spec: { containers: [c()], restartPolicy: 'Never' } }, ...more });
const labels = { app: 'x' };
const work = (more: JsonObject): JsonObject =>
  spec({
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [c()] } },
    serviceName: 's',
    ...more,
  });
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };

/** What is met less often. */
export const RARE_CASES = [
  pod(
    'claims',
    one(
      { resources: { claims: [{ name: 'r' }, { name: 'none' }, { name: 'r' }] } },
      { resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] },
    ),
  ),
  pod(
    'bad claims',
    one(
      {},
      {
        resourceClaims: [
          { name: 'r' },
          { name: 'r', resourceClaimName: 'B!' },
          { name: 'B!', resourceClaimName: 'a', resourceClaimTemplateName: 'b' },
        ],
      },
    ),
  ),
  pod(
    'windows',
    one(
      { securityContext: { privileged: true } },
      { os: { name: 'windows' }, hostNetwork: true, securityContext: { runAsUser: 1 } },
    ),
  ),
  pod('odd system', one({}, { os: { name: 'plan9' } })),
  pod('own users', one({}, { hostUsers: false, hostNetwork: true })),
  pod(
    'restart rules',
    one({
      restartPolicy: 'Odd',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
    }),
  ),
  pod(
    'app armor',
    one(
      { securityContext: { appArmorProfile: { type: 'Odd' } } },
      { securityContext: { appArmorProfile: { type: 'Localhost' } } },
    ),
  ),
  pod(
    'resize policy',
    one({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'odd', restartPolicy: 'Odd' },
      ],
    }),
  ),
  pod('sleeps', one({ lifecycle: { preStop: { sleep: { seconds: 60 } } } })),
  pod(
    'match label keys',
    one(
      {},
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'z',
            whenUnsatisfiable: 'ScheduleAnyway',
            minDomains: 2,
            labelSelector: {},
            nodeTaintsPolicy: 'Odd',
          },
          { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
        ],
      },
    ),
  ),
  pod(
    'pod level too small',
    spec({
      containers: [c({ resources: { requests: { cpu: '2' }, limits: { cpu: '3' } } })],
      resources: { requests: { cpu: '1' }, limits: { cpu: '2' } },
    }),
  ),
  pod(
    'fields',
    one({
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.odd' } } },
        { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
      ],
    }),
  ),
  job(
    'bad failure policy',
    once({
      podFailurePolicy: {
        rules: [
          { action: 'Odd', onExitCodes: { operator: 'Odd', values: [] } },
          { action: 'FailIndex' },
          { action: 'Ignore', onExitCodes: { operator: 'In', values: [0, 1, 1] } },
        ],
      },
    }),
  ),
  job('bad success policy', once({ completionMode: 'Indexed', completions: 2, successPolicy: { rules: [{}] } })),
  job('managed', once({ managedBy: 'x' })),
  job('per index', once({ backoffLimitPerIndex: 1, maxFailedIndexes: 2 })),
  statefulSet(
    'bad claims',
    work({
      volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }],
      ordinals: { start: -1 },
      updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } },
    }),
  ),
  statefulSet(
    'mounted',
    work({
      volumeClaimTemplates: [
        {
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
      template: { metadata: { labels }, spec: { containers: [c({ volumeMounts: [{ name: 'd', mountPath: '/d' }] })] } },
    }),
  ),
  scaler(
    'bad behaviour',
    spec({
      scaleTargetRef,
      maxReplicas: 3,
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          selectPolicy: 'Odd',
          policies: [{ type: 'Odd', value: 0, periodSeconds: 9999 }],
        },
      },
      metrics: [{ type: 'Resource', resource: { name: '', target: { type: 'Odd' } } }],
    }),
  ),
  flow(
    'bad',
    spec({
      matchingPrecedence: 20000,
      priorityLevelConfiguration: { name: '' },
      rules: [{ subjects: [], resourceRules: [] }],
    }),
  ),
  level('bad', spec({ type: 'Odd' })),
  level('unlimited', spec({ type: 'Limited' })),
  claim(
    'class later',
    spec({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'a' }),
    merge({ spec: { storageClassName: 'b' } }),
    merge({ spec: { volumeName: 'v' } }),
  ),
  volume(
    'claimed',
    spec({
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      csi: { driver: 'd.test', volumeHandle: 'h' },
    }),
    merge({ spec: { claimRef: { namespace: 'n', name: 'c' } } }),
    merge({ spec: { volumeMode: 'Block' } }),
  ),
  resourceClaim(
    'bad',
    spec({ devices: { requests: [{ name: 'B!' }, { name: 'r', exactly: {} }] } }),
    merge({ spec: {} }),
  ),
  node(
    'statuses',
    {},
    merge(
      {
        status: {
          capacity: { cpu: '-1' },
          addresses: [
            { type: 'InternalIP', address: '1.2.3.4' },
            { type: 'InternalIP', address: '1.2.3.4' },
          ],
        },
      },
      'status',
    ),
  ),
];
