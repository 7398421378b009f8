import { shippedVersions } from '../../apiserver/surfaces/shipped-versions.js';
import { CONTROLLER_CHOICES } from './api-server-config.js';
import type { FlagTable } from './flag.js';

const DAY_MS = 24 * 3_600_000;

/** Flags of `straddle apiserver` alone. Those that kube-apiserver has too mean the same. */
export const API_SERVER_FLAGS = {
  Storage: [
    {
      name: 'data-dir',
      kind: 'text',
      description:
        'Folder for everything this server keeps: the embedded store, certificates that were not given, and the admin’s kubeconfig. Servers on one machine that name the same folder are one control plane.',
      example: '--data-dir=/var/lib/straddle',
    },
    {
      name: 'admin-kubeconfig',
      kind: 'text',
      defaultNote: '<data-dir>/kubeconfig',
      description:
        'Where the admin’s kubeconfig is written once the server is ready; a file with something else is refused. Empty: nowhere.',
      example: '--admin-kubeconfig=./admin.conf',
    },
    {
      name: 'etcd-servers',
      kind: 'urls',
      default: '',
      description: 'Keep objects in etcd instead of the embedded store. Repeatable.',
      example: '--etcd-servers=https://10.0.0.1:2379,https://10.0.0.2:2379',
      kubeApiserver: 'the same',
    },
    {
      name: 'etcd-cafile',
      kind: 'file',
      description: 'CA bundle that etcd’s certificate is verified with.',
      example: '--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt',
      kubeApiserver: 'the same',
    },
    {
      name: 'etcd-certfile',
      kind: 'file',
      description: 'Client certificate to show to etcd.',
      example: '--etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt',
      kubeApiserver: 'the same',
    },
    {
      name: 'etcd-keyfile',
      kind: 'file',
      description: 'Private key of --etcd-certfile.',
      example: '--etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key',
      kubeApiserver: 'the same',
    },
    {
      name: 'compaction-interval',
      aliases: ['etcd-compaction-interval'],
      kind: 'duration',
      default: '5m',
      max: DAY_MS,
      description:
        'History older than this is forgotten; watches and lists that need it are answered 410 Gone. 0 keeps it all.',
      kubeApiserver: 'the same, under the name --etcd-compaction-interval',
    },
    {
      name: 'event-ttl',
      kind: 'duration',
      default: '1h',
      min: 1_000,
      max: 365 * DAY_MS,
      description: 'How long events are kept.',
      kubeApiserver: 'the same',
    },
  ],
  API: [
    {
      name: 'kubernetes-version',
      kind: 'text',
      defaultNote: 'the newest that comes with Straddle',
      description: `The Kubernetes minor version whose API is served: one of ${shippedVersions().join(', ')}.`,
      example: '--kubernetes-version=1.35',
    },
    {
      name: 'surface-file',
      kind: 'file',
      description:
        'Serve the API that `straddle surface capture` wrote to this file, instead of one that comes with Straddle.',
      example: '--surface-file=my-cluster.json',
    },
    {
      name: 'descriptions-file',
      kind: 'file',
      defaultNote: 'short descriptions of the most used kinds, in Straddle’s own words',
      description:
        'Descriptions in OpenAPI, which kubectl explain prints: those that `straddle surface capture --descriptions` wrote to this file. They must be of the version that is served.',
      example: '--descriptions-file=my-descriptions.json',
    },
    {
      name: 'runtime-config',
      kind: 'list',
      default: '',
      description:
        'Turn versions and resources on or off: batch/v1=false, scheduling.k8s.io/v1alpha2=true, api/all=true. Repeatable.',
      example: '--runtime-config=batch/v1=false',
      kubeApiserver: 'the same',
    },
    {
      name: 'service-cluster-ip-range',
      kind: 'text',
      default: '10.0.0.0/24',
      description: 'Where the addresses of services come from.',
      example: '--service-cluster-ip-range=10.96.0.0/16',
      kubeApiserver: 'the same',
    },
    {
      name: 'controllers',
      kind: 'choices',
      choices: CONTROLLER_CHOICES,
      default: CONTROLLER_CHOICES.join(','),
      description:
        'Controllers that run in this server while it holds their lease: namespaces that are being deleted are emptied, objects whose owners are gone are deleted, namespaces get their service account. Empty: none, for a kube-controller-manager that does it instead. Repeatable.',
      example: '--controllers=',
    },
    {
      name: 'service-account-issuer',
      kind: 'text',
      default: 'https://kubernetes.default.svc.cluster.local',
      description: 'Who service-account tokens say they are from.',
      kubeApiserver: 'the same',
    },
    {
      name: 'service-account-signing-key-file',
      kind: 'file',
      defaultNote: 'one that is made in --data-dir',
      description: 'Private key that signs service-account tokens. All servers of a control plane need the same.',
      example: '--service-account-signing-key-file=/etc/kubernetes/pki/sa.key',
      kubeApiserver: 'the same',
    },
    {
      name: 'service-account-key-file',
      kind: 'list',
      default: '',
      description: 'Further keys whose service-account tokens are believed. Repeatable.',
      example: '--service-account-key-file=/etc/kubernetes/pki/sa.pub',
      kubeApiserver: 'the same',
    },
    {
      name: 'token-auth-file',
      kind: 'file',
      description: 'CSV of static tokens: token,user,uid,"group1,group2".',
      example: '--token-auth-file=tokens.csv',
      kubeApiserver: 'the same',
    },
  ],
} as const satisfies FlagTable;
