import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec, update } from './case.js';

const pod = kind('v1/pods', { apiVersion: 'v1', kind: 'Pod' });
const deployment = kind('apps/v1/deployments', { apiVersion: 'apps/v1', kind: 'Deployment' });
const daemonSet = kind('apps/v1/daemonsets', { apiVersion: 'apps/v1', kind: 'DaemonSet' });
const job = kind('batch/v1/jobs', { apiVersion: 'batch/v1', kind: 'Job' });
const service = kind('v1/services', { apiVersion: 'v1', kind: 'Service' });
const claim = kind('v1/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
const request = kind(
  'certificates.k8s.io/v1/certificatesigningrequests',
  { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
  'cluster',
);
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
const definition = kind(
  'apiextensions.k8s.io/v1/customresourcedefinitions',
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  'cluster',
);
const attributes = kind(
  'storage.k8s.io/v1/volumeattributesclasses',
  { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass' },
  'cluster',
);
const capacity = kind('storage.k8s.io/v1/csistoragecapacities', {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
});
const deviceClass = kind(
  'resource.k8s.io/v1/deviceclasses',
  { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass' },
  'cluster',
);
const template = kind('resource.k8s.io/v1/resourceclaimtemplates', {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
});
const cidr = kind(
  'networking.k8s.io/v1/servicecidrs',
  { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
  'cluster',
);

const c = (more: JsonObject = {}): JsonObject => ({ name: 'c', image: 'nginx', ...more });
const one = (container: JsonObject, more: JsonObject = {}): JsonObject => spec({ containers: [c(container)], ...more });
const labels = { app: 'x' };
const work: JsonObject = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [c()] } },
};
const storage = { requests: { storage: '1Gi' } };

// A request that any certificate tool could have made.
const REQUEST = [
  '-----BEGIN CERTIFICATE REQUEST-----',
  'MIHLMHQCAQAwEjEQMA4GA1UEAwwHc29tZW9uZTBZMBMGByqGSM49AgEGCCqGSM49',
  'AwEHA0IABENvPL4/UUbw36tGC3vlUnk/3kST2FjzP1hs266sajdCKdrnF4+7NH5U',
  'zBAFuaSLaZj0w5FXpjazQ78mqmxL12OgADAKBggqhkjOPQQDAgNHADBEAiAVCzNJ',
  'nvOma2TOWg9sMRtiaJSocDySKZ9/ULLIM7E6vwIgaOF+LmGMFfARoU1wy+7OauaR',
  'cklvLabQotCvOMVo6XU=',
  '-----END CERTIFICATE REQUEST-----',
  '',
].join('\n');

export const MORE_CASES = [
  pod(
    'bad policies without an account',
    one(
      {},
      {
        restartPolicy: 'Sometimes',
        dnsPolicy: 'Odd',
        terminationGracePeriodSeconds: -1,
        activeDeadlineSeconds: 0,
        nodeName: 'B!',
        hostname: 'B!',
        subdomain: 'B!',
      },
    ),
  ),
  pod(
    'bad hosts and gates',
    one(
      {},
      {
        hostAliases: [{ ip: 'x', hostnames: ['B!'] }],
        imagePullSecrets: [{}],
        readinessGates: [{ conditionType: 'B!!' }],
        schedulingGates: [{ name: 'B!' }, { name: 'a' }, { name: 'a' }],
      },
    ),
  ),
  pod(
    'init probes',
    spec({
      containers: [c()],
      initContainers: [c({ name: 'i', livenessProbe: { exec: { command: ['x'] } } }), c({ name: 'c' })],
    }),
  ),
  pod('ephemeral at once', one({}, { ephemeralContainers: [{ name: 'e', image: 'x' }] })),
  pod('own priority', one({}, { priority: 5 })),
  pod('own preemption', one({}, { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' })),
  pod(
    'env hides',
    one({
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    }),
  ),
  pod('huge pages', one({ resources: { limits: { 'hugepages-2Mi': '4Mi' } } })),
  pod('extended', one({ resources: { requests: { 'example.com/gpu': 1 } } })),
  pod('half an extended', one({ resources: { limits: { 'example.com/gpu': '500m' } } })),
  pod(
    'dns config',
    one(
      {},
      {
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['1.2.3.4', 'x'],
          searches: ['a.test.', 'B!'],
          options: [{ name: 'ndots', value: '2' }, {}],
        },
      },
    ),
  ),
  pod(
    'sub paths',
    one(
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a', subPath: '/x' },
          { name: 'v', mountPath: '/b', subPath: '../y' },
          { name: 'v', mountPath: '/c', mountPropagation: 'Odd' },
        ],
      },
      { volumes: [{ name: 'v' }] },
    ),
  ),
  pod(
    'projected badly',
    one(
      {},
      {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { secret: {} },
                { serviceAccountToken: { path: '', expirationSeconds: 5 } },
                { configMap: { name: 'c', items: [{ key: '', path: '../x' }] } },
              ],
            },
          },
        ],
      },
    ),
  ),
  pod(
    'devices',
    one(
      {
        volumeDevices: [
          { name: 'p', devicePath: '/d' },
          { name: 'e', devicePath: '/e' },
          { name: 'n', devicePath: '' },
        ],
      },
      { volumes: [{ name: 'p', persistentVolumeClaim: { claimName: 'x' } }, { name: 'e' }] },
    ),
  ),
  pod(
    'seccomp',
    one(
      { securityContext: { seccompProfile: { type: 'Localhost' }, procMount: 'Odd' } },
      { securityContext: { seccompProfile: { type: 'Odd' }, fsGroupChangePolicy: 'Odd', supplementalGroups: [-1] } },
    ),
  ),
  pod(
    'deadline grows',
    one({}, { activeDeadlineSeconds: 5 }),
    merge({ spec: { activeDeadlineSeconds: 6 } }),
    merge({ spec: { activeDeadlineSeconds: null } }),
    merge({ spec: { activeDeadlineSeconds: 4 } }),
  ),
  pod('containers go', spec({ containers: [c(), c({ name: 'd' })] }), merge({ spec: { containers: [c()] } })),
  pod(
    'put over',
    one({}),
    update({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'put-over', labels: { a: 'b' } },
      spec: { containers: [c({ image: 'other' })] },
    }),
  ),
  pod(
    'resized away',
    one({ resources: { requests: { cpu: '100m' } } }),
    merge({ spec: { containers: [c({ resources: {} })] } }, 'resize'),
    merge(
      { spec: { containers: [c({ resources: { requests: { cpu: '1' }, limits: { cpu: '1', memory: '1Gi' } } })] } },
      'resize',
    ),
  ),
  deployment(
    'put over',
    spec({ ...work, replicas: 3, minReadySeconds: 4 }),
    update({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'put-over' }, spec: work }),
  ),
  deployment(
    'conditions',
    spec(work),
    merge({ status: { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] } }, 'status'),
  ),
  daemonSet('template changes', spec(work), merge({ spec: { template: { spec: { hostNetwork: true } } } })),
  job(
    'suspended and moved',
    spec({ suspend: true, template: { spec: { containers: [c()], restartPolicy: 'Never' } } }),
    merge({ spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
  ),
  job(
    'indexed grows',
    spec({
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      template: { spec: { containers: [c()], restartPolicy: 'Never' } },
    }),
    merge({ spec: { completions: 3 } }),
    merge({ spec: { completions: 3, parallelism: 3 } }),
  ),
  service(
    'put over',
    spec({ ports: [{ port: 80 }], type: 'NodePort', selector: { a: 'b' } }),
    update({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'put-over' },
      spec: { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'b' }], selector: { a: 'c' } },
    }),
    update({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'put-over' },
      spec: {
        type: 'NodePort',
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      },
    }),
  ),
  service('to headless', spec({ ports: [{ port: 80 }] }), merge({ spec: { clusterIP: 'None', clusterIPs: ['None'] } })),
  service(
    'local',
    spec({ ports: [{ port: 80 }], type: 'NodePort', externalTrafficPolicy: 'Local' }),
    merge({ spec: { externalTrafficPolicy: 'Odd' } }),
  ),
  service(
    'balanced ranges',
    spec({ ports: [{ port: 80 }], type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] }),
  ),
  service(
    'class of a cluster ip',
    spec({
      ports: [{ port: 80 }],
      loadBalancerClass: 'a.test/b',
      allocateLoadBalancerNodePorts: true,
      healthCheckNodePort: 30001,
    }),
  ),
  claim(
    'grows when bound',
    spec({ accessModes: ['ReadWriteOnce'], resources: storage, storageClassName: '', volumeName: 'v' }),
    merge({ status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } }, 'status'),
    merge({ spec: { resources: { requests: { storage: '500Mi' } } } }),
  ),
  claim(
    'from a snapshot',
    spec({
      accessModes: ['ReadWriteOnce'],
      resources: storage,
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' },
    }),
  ),
  claim(
    'from a claim',
    spec({
      accessModes: ['ReadWriteOnce'],
      resources: storage,
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 's' },
    }),
  ),
  request(
    'bad',
    spec({ request: Buffer.from(REQUEST).toString('base64'), signerName: 'a', usages: [], expirationSeconds: 5 }),
  ),
  request(
    'approved',
    spec({
      request: Buffer.from(REQUEST).toString('base64'),
      signerName: 'a.test/b',
      usages: ['client auth'],
      username: 'somebody else',
    }),
    merge({ spec: { usages: ['server auth'] } }),
    merge({ status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }] } }, 'approval'),
    merge({ status: { conditions: [] } }, 'approval'),
    merge({ status: { conditions: [], certificate: 'AA==' } }, 'status'),
  ),
  priority('default', { value: 1, globalDefault: true }),
  runtime('overhead', {
    handler: 'h',
    overhead: { podFixed: { cpu: '0.25' } },
    scheduling: { nodeSelector: { rt: 'x' }, tolerations: [{ key: 'rt', operator: 'Exists' }] },
  }),
  definition('widgets', {
    metadata: { name: 'widgets.a.test' },
    spec: {
      group: 'a.test',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }),
  attributes('minimal', { driverName: 'd.test', parameters: { a: 'b' } }, merge({ parameters: { a: 'c' } })),
  capacity('minimal', { storageClassName: 's', capacity: '1024Mi', nodeTopology: {} }),
  deviceClass('minimal', { ...spec({}), metadata: { name: 'd.test' } }),
  template(
    'minimal',
    spec({ spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c.test', count: 2 } }] } } }),
  ),
  cidr('minimal', spec({ cidrs: ['10.99.0.0/24'] })),
];
