import type { JsonObject } from '../../../src/kube/json.js';

/** What is there before the cases: admission looks at it. */
export interface SetupObject {
  readonly what: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
    readonly namespace: string;
  };
  readonly object: JsonObject;
  /** Asked to go; what has finalizers stays, leaving. */
  readonly deleted?: boolean;
}

const core = (resource: string, namespace = ''): SetupObject['what'] => ({
  group: '',
  version: 'v1',
  resource,
  namespace,
});

export const SETUP_OBJECTS: readonly SetupObject[] = [
  { what: core('namespaces'), object: { metadata: { name: 'limited' } } },
  { what: core('namespaces'), object: { metadata: { name: 'leaving' } }, deleted: true },
  { what: core('serviceaccounts', 'default'), object: { metadata: { name: 'default' } } },
  {
    what: core('serviceaccounts', 'limited'),
    object: { metadata: { name: 'default' }, automountServiceAccountToken: false },
  },
  {
    what: core('serviceaccounts', 'default'),
    object: {
      metadata: { name: 'builder' },
      imagePullSecrets: [{ name: 'pull' }],
      automountServiceAccountToken: false,
    },
  },
  {
    what: core('limitranges', 'limited'),
    object: {
      metadata: { name: 'range' },
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2' }, default: { memory: '1Gi', cpu: '1' } },
          { type: 'Pod', max: { cpu: '4' } },
        ],
      },
    },
  },
  {
    what: { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses', namespace: '' },
    object: { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' },
  },
  {
    what: { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses', namespace: '' },
    object: {
      metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'a.test/b',
    },
  },
  {
    what: { group: 'networking.k8s.io', version: 'v1', resource: 'ingressclasses', namespace: '' },
    object: {
      metadata: { name: 'front', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'a.test/b' },
    },
  },
];
