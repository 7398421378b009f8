import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec } from './case.js';

const claim = kind('v1/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
const volume = kind('v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume' }, 'cluster');
const storageClass = kind(
  'storage.k8s.io/v1/storageclasses',
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  'cluster',
);
const driver = kind('storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver' }, 'cluster');
const csiNode = kind('storage.k8s.io/v1/csinodes', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode' }, 'cluster');
const attachment = kind(
  'storage.k8s.io/v1/volumeattachments',
  { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment' },
  'cluster',
);
const role = kind('rbac.authorization.k8s.io/v1/roles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' });
const clusterRole = kind(
  'rbac.authorization.k8s.io/v1/clusterroles',
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  'cluster',
);
const binding = kind('rbac.authorization.k8s.io/v1/rolebindings', {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
});
const clusterBinding = kind(
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  'cluster',
);
const scaler = kind('autoscaling/v2/horizontalpodautoscalers', {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
});
const oldScaler = kind('autoscaling/v1/horizontalpodautoscalers', {
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
});
const budget = kind('policy/v1/poddisruptionbudgets', { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' });
const validating = kind(
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
  'cluster',
);
const mutating = kind(
  'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
  'cluster',
);
const admissionPolicy = kind(
  'admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
  'cluster',
);
const policyBinding = kind(
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding' },
  'cluster',
);
const apiService = kind(
  'apiregistration.k8s.io/v1/apiservices',
  { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
  'cluster',
);
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
const resourceClaim = kind('resource.k8s.io/v1/resourceclaims', {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
});

const storage = { requests: { storage: '1024Mi' } };
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
const hook = (more: JsonObject = {}): JsonObject => ({
  name: 'a.b.test',
  clientConfig: { url: 'https://a.test/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules,
  ...more,
});
const version = (more: JsonObject = {}, name = 'v1.g.test'): JsonObject => ({
  metadata: { name },
  spec: { group: 'g.test', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, ...more },
});

export const CLUSTER_CASES = [
  claim(
    'minimal',
    spec({ accessModes: ['ReadWriteOnce'], resources: storage }),
    merge({ spec: { resources: { requests: { storage: '2Gi' } } } }),
    merge({ spec: { accessModes: ['ReadOnlyMany'] } }),
    merge({ status: { phase: 'Bound' } }, 'status'),
  ),
  claim('no class', spec({ accessModes: ['ReadWriteOnce'], resources: storage, storageClassName: '' })),
  claim('nothing', spec({})),
  claim(
    'bad',
    spec({
      accessModes: ['Odd'],
      resources: { requests: { storage: '-1' } },
      volumeMode: 'Odd',
      storageClassName: 'B!',
    }),
  ),
  claim(
    'zero',
    spec({ accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'], resources: { requests: { storage: '0' } } }),
  ),
  volume(
    'minimal',
    spec({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }),
    merge({ spec: { hostPath: { path: '/y' } } }),
    merge({ status: { phase: 'Available' } }, 'status'),
  ),
  volume('nothing', spec({})),
  volume(
    'two sources',
    spec({
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/x' },
      nfs: { server: 's', path: '/' },
      persistentVolumeReclaimPolicy: 'Odd',
    }),
  ),
  volume('local', spec({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], local: { path: '/x' } })),
  storageClass(
    'minimal',
    { provisioner: 'a.test/b' },
    merge({ provisioner: 'c.test/d' }),
    merge({ reclaimPolicy: 'Retain' }),
    merge({ allowVolumeExpansion: true }),
    merge({ parameters: { a: 'b' } }),
  ),
  storageClass('bad', { provisioner: '', reclaimPolicy: 'Odd', volumeBindingMode: 'Odd', parameters: { '': 'x' } }),
  driver(
    'minimal',
    { ...spec({}), metadata: { name: 'd.example.test' } },
    merge({ spec: { attachRequired: false } }),
    merge({ spec: { podInfoOnMount: true } }),
  ),
  driver('bad', {
    ...spec({ fsGroupPolicy: 'Odd', volumeLifecycleModes: ['Odd'] }),
    metadata: { name: 'd2.example.test' },
  }),
  csiNode('minimal', spec({ drivers: [{ name: 'd.example.test', nodeID: 'n', topologyKeys: ['a'] }] })),
  csiNode(
    'bad',
    spec({ drivers: [{ name: 'B!', nodeID: '', topologyKeys: ['', 'x', 'x'], allocatable: { count: -1 } }] }),
  ),
  attachment(
    'minimal',
    spec({ attacher: 'a.test', nodeName: 'n', source: { persistentVolumeName: 'p' } }),
    merge({ status: { attached: true } }, 'status'),
    merge({ spec: { nodeName: 'm' } }),
  ),
  attachment('bad', spec({ attacher: '', nodeName: '', source: {} })),
  role('minimal', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  role('empty', {}),
  role('bad', {
    rules: [{ verbs: [] }, { verbs: ['get'], nonResourceURLs: ['/x'] }, { verbs: ['get'], apiGroups: [''] }],
  }),
  clusterRole('minimal', {
    rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  }),
  clusterRole('bad', {
    rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }],
    aggregationRule: { clusterRoleSelectors: [] },
  }),
  binding(
    'minimal',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'default' },
      ],
    },
    merge({ roleRef: { name: 'q' } }),
    merge({ subjects: null }),
  ),
  binding('bad', {
    roleRef: { kind: 'Odd', name: '' },
    subjects: [
      { kind: 'Odd', name: '' },
      { kind: 'ServiceAccount', name: 'B!' },
      { kind: 'User', name: 'u', apiGroup: 'x' },
    ],
  }),
  clusterBinding('minimal', { roleRef: { kind: 'ClusterRole', name: 'r', apiGroup: 'rbac.authorization.k8s.io' } }),
  clusterBinding('bad', { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] }),
  scaler(
    'minimal',
    spec({ scaleTargetRef, maxReplicas: 3 }),
    merge({ spec: { minReplicas: 5 } }),
    merge({ status: { currentReplicas: 1, desiredReplicas: 2 } }, 'status'),
  ),
  scaler(
    'behaviour',
    spec({ scaleTargetRef, maxReplicas: 3, behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } }),
  ),
  scaler(
    'bad',
    spec({
      scaleTargetRef: { kind: '', name: '' },
      maxReplicas: 0,
      minReplicas: 0,
      metrics: [{ type: 'Resource' }, { type: 'Odd' }],
    }),
  ),
  oldScaler('minimal of version 1', spec({ scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 })),
  oldScaler('without target', spec({ scaleTargetRef, maxReplicas: 3 })),
  budget(
    'minimal',
    spec({ minAvailable: 1, selector: { matchLabels: { a: 'b' } } }),
    merge({ spec: { minAvailable: '50%' } }),
    merge({ status: { disruptionsAllowed: 1 } }, 'status'),
  ),
  budget('empty', spec({})),
  budget('both', spec({ minAvailable: '101%', maxUnavailable: -1, unhealthyPodEvictionPolicy: 'Odd' })),
  validating(
    'minimal',
    { webhooks: [hook()] },
    merge({ webhooks: [hook({ timeoutSeconds: 5 })] }),
    merge({ metadata: { labels: { a: 'b' } } }),
  ),
  validating('service', { webhooks: [hook({ clientConfig: { service: { namespace: 'n', name: 's' } } })] }),
  validating('empty', {}),
  validating('bad', {
    webhooks: [
      { name: 'x' },
      hook({
        name: 'a.b.test',
        failurePolicy: 'Odd',
        sideEffects: 'Some',
        timeoutSeconds: 40,
        clientConfig: { url: 'http://x' },
        admissionReviewVersions: ['v9'],
      }),
      hook({
        rules: [
          {},
          { operations: ['*', 'CREATE'], apiGroups: ['', '*'], apiVersions: [''], resources: ['a', 'a/*', '*/*'] },
        ],
      }),
    ],
  }),
  mutating('minimal', { webhooks: [hook({ matchConditions: [{ name: 'm', expression: 'true' }] })] }),
  mutating('bad', {
    webhooks: [
      hook({ reinvocationPolicy: 'Odd', clientConfig: {} }),
      hook({ clientConfig: { url: 'https://u@x?y#z', service: { name: '', namespace: '', port: 0 } } }),
    ],
  }),
  admissionPolicy(
    'minimal',
    spec({ matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] }),
    merge({ spec: { failurePolicy: 'Ignore' } }),
  ),
  policyBinding('minimal', spec({ policyName: 'p', validationActions: ['Deny'] })),
  policyBinding('bad', spec({ validationActions: ['Deny', 'Warn', 'Odd', 'Deny'] })),
  apiService('minimal', version()),
  apiService(
    'service',
    version({ service: { name: 's', namespace: 'n' }, insecureSkipTLSVerify: true, version: 'v2' }, 'v2.g.test'),
  ),
  apiService(
    'bad',
    version(
      {
        groupPriorityMinimum: 0,
        versionPriority: 2000,
        service: { name: '', namespace: '' },
        insecureSkipTLSVerify: true,
        caBundle: 'AA==',
      },
      'v3.g.test',
    ),
  ),
  apiService('core', version({ group: '', version: 'B!' }, 'B!.')),
  flow(
    'minimal',
    spec({
      priorityLevelConfiguration: { name: 'l' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    }),
  ),
  level('minimal', spec({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } })),
  resourceClaim('minimal', spec({ devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c.test' } }] } })),
];
