import type { FlagTable } from './flag.js';

/**
 * Flags that kube-apiserver has too, under the same name, so that operators can copy theirs. They
 * mean the same there unless `kubeApiserver` explains the difference.
 */
export const KUBE_APISERVER_FLAGS = {
  Serving: [
    {
      name: 'bind-address',
      kind: 'ip',
      default: '0.0.0.0',
      defaultFor: { apiserver: '127.0.0.1' },
      description:
        'Address to listen on. 0.0.0.0 is every IPv4 address of the machine, :: every address. On 127.0.0.1 an API server of its own is for this machine alone.',
      example: '--bind-address=10.0.0.1',
      kubeApiserver: 'the same, with the default 0.0.0.0',
    },
    {
      name: 'secure-port',
      kind: 'port',
      default: '6443',
      min: 0,
      description: 'Port to listen on, TLS only. 0 takes any free one.',
      kubeApiserver: 'the same, but 0 is not allowed there',
    },
    {
      name: 'advertise-address',
      kind: 'ip',
      defaultNote: 'the bind address if it is a single one, else the first address of the machine that is not loopback',
      description: 'Address under which other machines reach this one.',
      example: '--advertise-address=10.0.0.1',
    },
    {
      name: 'tls-cert-file',
      kind: 'file',
      description:
        'Certificate to serve with, followed by its intermediates. Required. Read again when the file changes.',
      example: '--tls-cert-file=/etc/kubernetes/pki/apiserver.crt',
      kubeApiserver: 'the same, but a self-signed one is made there if missing',
    },
    {
      name: 'tls-private-key-file',
      kind: 'file',
      description: 'Private key of --tls-cert-file. Required. Read again when the file changes.',
      example: '--tls-private-key-file=/etc/kubernetes/pki/apiserver.key',
    },
  ],
  Identity: [
    {
      name: 'client-ca-file',
      kind: 'file',
      description:
        'CA bundle for client certificates (user = CN, groups = O). Needs --proxy-client-cert-file, which carries the user on to the kube-apiserver.',
      example: '--client-ca-file=/etc/kubernetes/pki/ca.crt',
    },
    {
      name: 'requestheader-client-ca-file',
      kind: 'file',
      description:
        'CA bundle for front proxies and peers. Only their connections may send X-Remote-* and x-kubernetes-peer-proxied.',
      example: '--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt',
    },
    {
      name: 'requestheader-allowed-names',
      kind: 'list',
      default: '',
      description:
        'Common names that a front proxy certificate may have. Empty: any certificate of --requestheader-client-ca-file.',
      example: '--requestheader-allowed-names=front-proxy-client',
    },
    {
      name: 'requestheader-username-headers',
      kind: 'list',
      default: 'X-Remote-User',
      description: 'Headers in which a front proxy names the user; the first that is present counts.',
      kubeApiserver: 'the same, without a default (kubeadm sets X-Remote-User)',
    },
    {
      name: 'requestheader-uid-headers',
      kind: 'list',
      default: 'X-Remote-Uid',
      description: 'Headers in which a front proxy gives the user’s UID.',
      kubeApiserver: 'the same, without a default',
    },
    {
      name: 'requestheader-group-headers',
      kind: 'list',
      default: 'X-Remote-Group',
      description: 'Headers in which a front proxy lists the user’s groups.',
      kubeApiserver: 'the same, without a default (kubeadm sets X-Remote-Group)',
    },
    {
      name: 'requestheader-extra-headers-prefix',
      kind: 'list',
      default: 'X-Remote-Extra-',
      description: 'Prefixes of the headers in which a front proxy passes on more about the user.',
      kubeApiserver: 'the same, without a default (kubeadm sets X-Remote-Extra-)',
    },
    {
      name: 'proxy-client-cert-file',
      kind: 'file',
      description:
        'Front-proxy certificate that Straddle shows to kube-apiservers and peers, so that they believe the identity it sends along. Read again when the file changes.',
      example: '--proxy-client-cert-file=/etc/kubernetes/pki/front-proxy-client.crt',
      kubeApiserver: 'the same; there for aggregated API servers and peers',
    },
    {
      name: 'proxy-client-key-file',
      kind: 'file',
      description: 'Private key of --proxy-client-cert-file.',
      example: '--proxy-client-key-file=/etc/kubernetes/pki/front-proxy-client.key',
    },
  ],
  Peers: [
    {
      name: 'peer-ca-file',
      kind: 'file',
      description:
        'CA bundle that peers’ serving certificates are verified with. Without it nothing is rerouted and nothing is merged.',
      example: '--peer-ca-file=/etc/kubernetes/pki/ca.crt',
    },
    {
      name: 'peer-advertise-ip',
      aliases: ['peer-advertise-address'],
      kind: 'ip',
      defaultNote: '--advertise-address',
      description: 'Address under which peers reach this Straddle.',
      example: '--peer-advertise-ip=10.0.0.1',
    },
    {
      name: 'peer-advertise-port',
      kind: 'port',
      defaultNote: '--secure-port',
      description: 'Port under which peers reach this Straddle.',
      example: '--peer-advertise-port=6443',
    },
  ],
  General: [
    {
      name: 'feature-gates',
      kind: 'gates',
      default: 'UnknownVersionInteroperabilityProxy=true',
      description:
        'UnknownVersionInteroperabilityProxy=false turns rerouting and merging off. AllAlpha and AllBeta are accepted and change nothing.',
      example: '--feature-gates=UnknownVersionInteroperabilityProxy=false',
      kubeApiserver: 'the same; kube-apiserver has many more gates',
    },
  ],
  Limits: [
    {
      name: 'request-timeout',
      kind: 'duration',
      default: '60s',
      min: 100,
      description: 'Longest wait for the beginning of an answer. Watches, exec and the like may then stream on.',
      kubeApiserver: 'the whole of a request that is not long-running',
    },
  ],
  Logging: [
    {
      name: 'v',
      short: 'v',
      kind: 'count',
      min: 0,
      max: 100,
      description: 'Log verbosity: 4 and more is --log-level=debug, less changes nothing. --log-level wins.',
      example: '-v=4',
      kubeApiserver: 'the same scale, finer',
    },
  ],
} as const satisfies FlagTable;
