import {
  BODY_BYTES,
  created,
  DEFAULT_NAMESPACE,
  filled,
  type HostileRequest,
  many,
  members,
  protobuf,
  replaced,
  sentAs,
} from './hostile-request.js';

const PODS = `${DEFAULT_NAMESPACE}/pods`;
const CONFIG_MAPS = `${DEFAULT_NAMESPACE}/configmaps`;
const SECRETS = `${DEFAULT_NAMESPACE}/secrets`;
const SERVICES = `${DEFAULT_NAMESPACE}/services`;
const POLICIES = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

const meta = (name = 'hostile') => ({ name });
const container = (index: number) => ({ name: `c${index}`, image: 'i' });
const pod = (spec: object) => ({ metadata: meta(), spec: { containers: [container(0)], ...spec } });
const template = (spec: object) => ({
  metadata: { labels: { a: 'b' } },
  spec: { containers: [container(0)], ...spec },
});

/** Objects of built-in kinds, as large as a body may be. */
export const HOSTILE_OBJECTS: readonly HostileRequest[] = [
  created('pod: containers', PODS, () => pod({ containers: many(60_000, container) })),
  created('pod: 3,000 containers', PODS, () => pod({ containers: many(3_000, container) })),
  created('pod: containers of one name', PODS, () => pod({ containers: many(3_000, () => container(0)) })),
  created(
    'pod: empty containers',
    PODS,
    () => `{"metadata":{"name":"h"},"spec":{"containers":[${filled(() => '{}')}]}}`,
  ),
  created('pod: init containers', PODS, () => pod({ initContainers: many(3_000, container) })),
  created('pod: environment', PODS, () =>
    pod({ containers: [{ ...container(0), env: many(6_000, (i) => ({ name: `E${i}`, value: '$(A)$(B)' })) }] }),
  ),
  created('pod: environment that expands', PODS, () =>
    pod({
      containers: [{ ...container(0), env: many(6_000, (i) => ({ name: `E${i}`, value: '$(A)$(B)'.repeat(8) })) }],
    }),
  ),
  created('pod: ports', PODS, () =>
    pod({ containers: [{ ...container(0), ports: many(6_000, (i) => ({ containerPort: (i % 65_000) + 1 })) }] }),
  ),
  created('pod: host ports of many containers', PODS, () =>
    pod({
      containers: many(20, (c) => ({
        ...container(c),
        ports: many(300, (i) => ({ containerPort: i + 1, hostPort: i + 1 })),
      })),
    }),
  ),
  created('pod: volumes and mounts', PODS, () =>
    pod({
      volumes: many(5_000, (i) => ({ name: `v${i}`, emptyDir: {} })),
      containers: [{ ...container(0), volumeMounts: many(5_000, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }],
    }),
  ),
  created('pod: mounts of volumes that are not there', PODS, () =>
    pod({
      containers: [{ ...container(0), volumeMounts: many(7_000, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }],
    }),
  ),
  created('pod: tolerations', PODS, () =>
    pod({ tolerations: many(13_000, (i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' })) }),
  ),
  created('pod: affinity terms', PODS, () =>
    pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: many(7_000, (i) => ({
              matchExpressions: [{ key: `k${i}`, operator: 'In', values: ['a'] }],
            })),
          },
        },
      },
    }),
  ),
  created('pod: topology spread constraints', PODS, () =>
    pod({
      topologySpreadConstraints: many(5_000, (i) => ({
        maxSkew: 1,
        topologyKey: `k${i}`,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: {},
      })),
    }),
  ),
  created('pod: host aliases', PODS, () =>
    pod({ hostAliases: many(9_000, () => ({ ip: '1.1.1.1', hostnames: ['a'] })) }),
  ),
  created('pod: resource claims', PODS, () =>
    pod({
      resourceClaims: many(4_000, (i) => ({ name: `r${i}`, resourceClaimName: 'x' })),
      containers: [{ ...container(0), resources: { claims: many(4_000, (i) => ({ name: `r${i}` })) } }],
    }),
  ),
  created('pod: resources', PODS, () =>
    pod({
      containers: [
        {
          ...container(0),
          resources: {
            limits: members(
              18_000,
              (i) => `example.com/r${i}`,
              () => '1',
            ),
          },
        },
      ],
    }),
  ),
  created('pod: scheduling gates', PODS, () => pod({ schedulingGates: many(10_000, (i) => ({ name: `g${i}` })) })),
  created('pod: image pull secrets', PODS, () => pod({ imagePullSecrets: many(10_000, (i) => ({ name: `g${i}` })) })),
  replaced('pod: replaced with changes on every second line', `${PODS}/lines`, () => ({
    metadata: { name: 'lines' },
    spec: {
      containers: [
        { ...container(0), env: many(900, (index) => ({ name: `E${index}`, value: `${(index + (index % 2)) % 40}` })) },
      ],
    },
  })),
  created('deployment: containers', DEPLOYMENTS, () => ({
    metadata: meta(),
    spec: { selector: { matchLabels: { a: 'b' } }, template: template({ containers: many(3_000, container) }) },
  })),
  created('deployment: selector', DEPLOYMENTS, () => ({
    metadata: meta(),
    spec: {
      selector: { matchExpressions: many(8_500, (i) => ({ key: `k${i}`, operator: 'In', values: ['a', 'b'] })) },
      template: template({}),
    },
  })),
  created('config map: 180,000 keys', CONFIG_MAPS, () => ({
    metadata: meta(),
    data: members(
      180_000,
      (i) => `k${i}`,
      () => '',
    ),
  })),
  created('config map: 28,000 keys', CONFIG_MAPS, () => ({
    metadata: meta(),
    data: members(
      28_000,
      (i) => `k${i}`,
      () => '',
    ),
  })),
  created('config map: 55,000 keys', CONFIG_MAPS, () => ({
    metadata: meta(),
    data: members(
      55_000,
      (i) => `k${i}`,
      () => '',
    ),
  })),
  created('config map: 28,000 keys that are refused', CONFIG_MAPS, () => ({
    metadata: meta(),
    data: members(
      28_000,
      (i) => `k ${i}`,
      () => '',
    ),
  })),
  created('config map: keys in both halves', CONFIG_MAPS, () => ({
    metadata: meta(),
    data: members(
      18_000,
      (i) => `k${i}`,
      () => 'v',
    ),
    binaryData: members(
      18_000,
      (i) => `k${i}`,
      () => 'AA==',
    ),
  })),
  created('config map: one value', CONFIG_MAPS, () => ({ metadata: meta(), data: { k: 'v'.repeat(BODY_BYTES) } })),
  created(
    'config map: one value of escapes',
    CONFIG_MAPS,
    () => `{"metadata":{"name":"h"},"data":{"k":"${'\\u0001'.repeat(500_000)}"}}`,
  ),
  replaced('config map: replaced by 27,000 keys', `${CONFIG_MAPS}/large`, () => ({
    metadata: { name: 'large' },
    data: members(
      27_000,
      (i) => `k${i}`,
      () => '',
    ),
  })),
  created('config map: unknown fields', CONFIG_MAPS, () => ({
    metadata: meta(),
    ...members(
      55_000,
      (i) => `u${i}`,
      () => 1,
    ),
  })),
  created('config map: unknown fields, warned of', `${CONFIG_MAPS}?fieldValidation=Warn`, () => ({
    metadata: meta(),
    ...members(
      55_000,
      (i) => `u${i}`,
      () => 1,
    ),
  })),
  created(
    'config map: one member many times',
    `${CONFIG_MAPS}?fieldValidation=Warn`,
    () => `{${filled(() => '"data":{}')}}`,
  ),
  created('config map: nested arrays', CONFIG_MAPS, () => `{"data":${'['.repeat(1_000_000)}`),
  created('config map: not JSON after 3 MB', CONFIG_MAPS, () => `{"data":[${filled(() => '1')}`),
  created('config map: not JSON after 3 MB of text', CONFIG_MAPS, () => `{"data":"${'x'.repeat(BODY_BYTES - 100)}`),
  created('config map: a list of 1.5 million values', CONFIG_MAPS, () => `{"data":[${filled(() => '1')}]}`),
  created('config map: a list of a million objects', CONFIG_MAPS, () => `{"data":[${filled(() => '{}')}]}`),
  created('secret: data', SECRETS, () => ({
    metadata: meta(),
    data: members(
      28_000,
      (i) => `k${i}`,
      () => 'AAAA',
    ),
  })),
  created('secret: one value', SECRETS, () => ({ metadata: meta(), data: { k: 'A'.repeat(3_000_000) } })),
  created('secret: string data', SECRETS, () => ({
    metadata: meta(),
    stringData: members(
      28_000,
      (i) => `k${i}`,
      () => 'AAAA',
    ),
  })),
  created('service: ports', SERVICES, () => ({
    metadata: meta(),
    spec: { ports: many(5_000, (i) => ({ name: `p${i}`, port: (i % 65_000) + 1 })) },
  })),
  created('endpoint slice: endpoints', SLICES, () => ({
    metadata: meta(),
    addressType: 'IPv4',
    endpoints: many(7_000, (i) => ({ addresses: [`10.0.${(i >> 8) & 255}.${i & 255}`] })),
    ports: many(3_000, (i) => ({ name: `p${i}`, port: 1 })),
  })),
  created('network policy: peers', POLICIES, () => ({
    metadata: meta(),
    spec: {
      podSelector: {},
      ingress: [{ from: many(13_000, () => ({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } })) }],
    },
  })),
  created('network policy: rules', POLICIES, () => ({
    metadata: meta(),
    spec: { podSelector: {}, egress: many(10_000, () => ({ ports: [{ port: 1, protocol: 'TCP' }] })) },
  })),
  created('ingress: paths', INGRESSES, () => ({
    metadata: meta(),
    spec: {
      rules: many(4_500, (i) => ({
        host: `h${i}.example.com`,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 1 } } } }] },
      })),
    },
  })),
  created('role: rules', ROLES, () => ({
    metadata: meta(),
    rules: many(7_500, (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })),
  })),
  created('role: one rule', ROLES, () => ({
    metadata: meta(),
    rules: [
      {
        apiGroups: many(5_000, (i) => `g${i}`),
        resources: many(40_000, (i) => `r${i}`),
        verbs: many(10_000, (i) => `v${i}`),
      },
    ],
  })),
  created('role binding: subjects', BINDINGS, () => ({
    metadata: meta(),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: many(14_000, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })),
  })),
  created('webhook configuration: webhooks', WEBHOOKS, () => ({
    metadata: meta(),
    webhooks: many(2_500, (i) => ({
      name: `w${i}.example.com`,
      clientConfig: { url: 'https://a' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    })),
  })),
  created('webhook configuration: match conditions', WEBHOOKS, () => ({
    metadata: meta(),
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig: { url: 'https://a' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: many(10_000, (i) => ({ name: `m${i}`, expression: `object.a${i} == 1` })),
      },
    ],
  })),
  created('metadata: labels', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      labels: members(
        28_000,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  })),
  created('metadata: labels that are refused', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      labels: members(
        28_000,
        (i) => `/k ${i}`,
        () => '$',
      ),
    },
  })),
  created('metadata: annotations', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      annotations: members(
        28_000,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  })),
  created('metadata: annotations that are refused', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      annotations: members(
        28_000,
        (i) => `/k ${i}`,
        () => '',
      ),
    },
  })),
  created('metadata: owner references', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      ownerReferences: many(8_000, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `${i}` })),
    },
  })),
  created('metadata: owners that all control', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      ownerReferences: many(9_000, (i) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name: `p${i}`,
        uid: `${i}`,
        controller: true,
      })),
    },
  })),
  created('metadata: finalizers', CONFIG_MAPS, () => ({
    metadata: { ...meta(), finalizers: many(28_000, (i) => `a.b/f${i}`) },
  })),
  created('metadata: finalizers that are refused', CONFIG_MAPS, () => ({
    metadata: { ...meta(), finalizers: many(25_000, (i) => `f ${i}`) },
  })),
  created('metadata: a name of 3 MB', CONFIG_MAPS, () => ({ metadata: { name: 'a-'.repeat(1_500_000) } })),
  created('metadata: a name of dots', CONFIG_MAPS, () => ({ metadata: { name: `${'a.'.repeat(1_500_000)}A` } })),
  created('metadata: a generated name of 3 MB', CONFIG_MAPS, () => ({
    metadata: { generateName: 'a-'.repeat(1_500_000) },
  })),
  created('metadata: a label key of 3 MB', CONFIG_MAPS, () => ({
    metadata: { ...meta(), labels: { ['a'.repeat(1_500_000)]: 'b'.repeat(1_500_000) } },
  })),
  created('metadata: managed fields', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      managedFields: [
        {
          manager: 'm',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          time: '2024-01-01T00:00:00Z',
          fieldsV1: {
            'f:data': members(
              55_000,
              (i) => `f:k${i}`,
              () => ({}),
            ),
          },
        },
      ],
    },
  })),
  created('metadata: managers', CONFIG_MAPS, () => ({
    metadata: {
      ...meta(),
      managedFields: many(5_500, (i) => ({
        manager: `m${i}`,
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        time: '2024-01-01T00:00:00Z',
        fieldsV1: { 'f:data': { 'f:k0': {} } },
      })),
    },
  })),
  sentAs(
    'application/yaml',
    created('YAML: 700,000 documents', CONFIG_MAPS, () => '---\n'.repeat(700_000)),
  ),
  sentAs(
    'application/yaml',
    created(
      'YAML: documents after an object',
      CONFIG_MAPS,
      () => `metadata:\n  name: h\n${'---\na: 1\n'.repeat(300_000)}`,
    ),
  ),
  sentAs(
    'application/yaml',
    created(
      'YAML: 55,000 lines',
      CONFIG_MAPS,
      () => `metadata:\n  name: h\ndata:\n${many(55_000, (i) => `  k${i}: v\n`).join('')}`,
    ),
  ),
  sentAs(
    'application/yaml',
    created('YAML: a flow sequence', CONFIG_MAPS, () => `metadata: {name: h}\ndata: [${filled(() => '1')}]`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: flow mappings', CONFIG_MAPS, () => `metadata: {name: h}\ndata: [${filled(() => '{}')}]`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: deep flow sequences', CONFIG_MAPS, () => `data: ${'['.repeat(1_000_000)}`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: deep block sequences', CONFIG_MAPS, () => `data: \n${'- '.repeat(1_000_000)}`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: deep block mappings', CONFIG_MAPS, () => many(2_000, (i) => `${' '.repeat(i)}a:\n`).join('')),
  ),
  sentAs(
    'application/yaml',
    created(
      'YAML: aliases',
      CONFIG_MAPS,
      () => `a: &a [${filled(() => 'x', 30_000)}]\nb: [${filled(() => '*a', 300)}]`,
    ),
  ),
  sentAs(
    'application/yaml',
    created('YAML: aliases of aliases', CONFIG_MAPS, () =>
      ['a0: &a0 [x,x]', ...many(25, (i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i}]`)].join('\n'),
    ),
  ),
  sentAs(
    'application/yaml',
    created('YAML: anchors', CONFIG_MAPS, () => `data: [${filled((i) => `&a${i} x`)}]`),
  ),
  sentAs(
    'application/yaml',
    created(
      'YAML: merge keys',
      CONFIG_MAPS,
      () => `a: &a {${filled((i) => `k${i}: 1`, 300_000)}}\nb: [${filled(() => '{<<: *a}', 20_000)}]`,
    ),
  ),
  sentAs(
    'application/yaml',
    created('YAML: one plain scalar', CONFIG_MAPS, () => `data: ${'x '.repeat(1_500_000)}`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: one folded scalar', CONFIG_MAPS, () => `data: >\n${'  x\n'.repeat(700_000)}`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: comments', CONFIG_MAPS, () => `${'#\n'.repeat(1_500_000)}a: 1`),
  ),
  sentAs(
    'application/yaml',
    created('YAML: JSON of 28,000 keys', CONFIG_MAPS, () => ({
      metadata: meta(),
      data: members(
        28_000,
        (i) => `k${i}`,
        () => '',
      ),
    })),
  ),
  sentAs(
    'application/yaml',
    created(
      'YAML: a duplicate key at the end',
      CONFIG_MAPS,
      () => `${many(55_000, (i) => `k${i}: v\n`).join('')}k0: v`,
    ),
  ),
  protobuf('protobuf: containers', PODS, () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(),
    spec: { containers: many(3_000, container) },
  })),
  protobuf('protobuf: config map', CONFIG_MAPS, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: meta(),
    data: members(
      28_000,
      (i) => `k${i}`,
      () => 'v',
    ),
  })),
  protobuf('protobuf: finalizers', CONFIG_MAPS, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...meta(), finalizers: many(1_000_000, () => 'f') },
  })),
  protobuf('protobuf: empty containers', PODS, () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(),
    spec: { containers: many(50_000, () => ({})) },
  })),
  protobuf('protobuf: managed fields', CONFIG_MAPS, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...meta(),
      managedFields: many(40, (i) => ({
        manager: `m${i}`,
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        time: '2024-01-01T00:00:00Z',
        fieldsV1: {
          'f:data': members(
            1_500,
            (key) => `f:k${key}`,
            () => ({}),
          ),
        },
      })),
    },
  })),
  created('access review: extra', '/apis/authorization.k8s.io/v1/subjectaccessreviews', () => ({
    spec: {
      user: 'u',
      groups: many(25_000, (i) => `g${i}`),
      extra: members(
        15_000,
        (i) => `e${i}`,
        () => ['v'],
      ),
      nonResourceAttributes: { path: '/', verb: 'get' },
    },
  })),
  created('access review: groups', '/apis/authorization.k8s.io/v1/subjectaccessreviews', () => ({
    spec: {
      user: 'u',
      groups: many(55_000, (i) => `g${i}`),
      resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default', name: 'x' },
    },
  })),
  created('access review: selector', '/apis/authorization.k8s.io/v1/subjectaccessreviews', () => ({
    spec: {
      user: 'u',
      resourceAttributes: {
        verb: 'list',
        resource: 'pods',
        labelSelector: { requirements: many(8_000, (i) => ({ key: `k${i}`, operator: 'In', values: ['a', 'b'] })) },
        fieldSelector: { requirements: many(8_000, (i) => ({ key: `k${i}`, operator: 'In', values: ['a'] })) },
      },
    },
  })),
  created('rules review', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', () => ({
    spec: { namespace: 'default' },
  })),
  created('token review', '/apis/authentication.k8s.io/v1/tokenreviews', () => ({
    spec: { token: `${'a'.repeat(1_000_000)}.${'b'.repeat(1_000_000)}.${'c'.repeat(900_000)}`, audiences: ['a'] },
  })),
  created('token review: audiences', '/apis/authentication.k8s.io/v1/tokenreviews', () => ({
    spec: { token: 'a.b.c', audiences: many(55_000, (i) => `a${i}`) },
  })),
  sentAs(
    'application/yaml',
    created(
      'access review: 700,000 documents of YAML',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      () => `spec: {nonResourceAttributes: {path: /, verb: get}}\n${'---\n'.repeat(700_000)}`,
    ),
  ),
];
