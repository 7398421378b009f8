import type { FlagTable } from './flag.js';

/** Bounds of durations and counts without a natural one, within the range of timers. */
const DAY_MS = 24 * 3_600_000;
const COUNT_MAX = 1_000_000;

/** Flags that only Straddle has. */
export const STRADDLE_FLAGS = {
  General: [
    {
      name: 'config',
      kind: 'file',
      description:
        'YAML file with any of these flags as keys, or the static pod of a kube-apiserver (the flags in its command), or a kubeadm ClusterConfiguration (its apiServer.extraArgs), or several of them as separate documents.',
      example: '--config=/etc/straddle/straddle.yaml',
      commandLineOnly: true,
    },
    {
      name: 'server-name',
      kind: 'text',
      defaultNote: 'the host name of the machine',
      description: 'What this server is called in leases, logs and metrics. Must be unlike every other server’s.',
      example: '--server-name=control-plane-1',
    },
    {
      name: 'state-dir',
      kind: 'text',
      default: '/var/lib/straddle',
      description: 'Where departed servers are remembered across restarts. Empty: not kept.',
    },
    {
      name: 'passthrough-file',
      kind: 'text',
      defaultNote: '`passthrough` in --state-dir',
      description:
        'While this file exists, every request is served by the local server as if there were no Straddle; its text is the reason, for people. `straddle passthrough` makes and deletes it. Empty: none.',
      example: '--passthrough-file=/etc/straddle/passthrough',
    },
    {
      name: 'workers',
      kind: 'count',
      default: '1',
      min: 1,
      max: 64,
      description:
        'Processes that serve behind the one port, for several cores. More than 1 only for `straddle proxy`; there is then one process more, which serves nobody. Limits are of all of them together.',
      example: '--workers=4',
    },
    {
      name: 'http2-server',
      kind: 'choice',
      choices: ['own', 'node'],
      default: 'own',
      description:
        'Which implementation of HTTP/2 serves clients: Straddle’s own, or that of Node.js, which takes about twice the CPU time a request. For comparing the two should one be in doubt.',
      example: '--http2-server=node',
    },
  ],
  Upstream: [
    {
      name: 'upstream',
      kind: 'url',
      default: 'https://127.0.0.1:6443',
      onlyFor: 'proxy',
      description: 'The kube-apiserver that this Straddle stands in front of.',
      example: '--upstream=https://127.0.0.1:7443',
    },
    {
      name: 'upstream-ca-file',
      kind: 'file',
      defaultNote: '--peer-ca-file',
      onlyFor: 'proxy',
      description: 'CA bundle that the kube-apiserver’s serving certificate is verified with.',
      example: '--upstream-ca-file=/etc/kubernetes/pki/ca.crt',
    },
    {
      name: 'upstream-server-name',
      kind: 'text',
      defaultNote: '--peer-server-name',
      onlyFor: 'proxy',
      description: 'Name that the kube-apiserver’s certificate must have.',
      example: '--upstream-server-name=kubernetes.default.svc',
    },
    {
      name: 'kubeconfig',
      kind: 'file',
      defaultNote: 'the user system:straddle through the front-proxy certificate',
      onlyFor: 'proxy',
      description: 'Straddle’s own identity for leases and discovery. See `straddle rbac` for the rights it needs.',
      example: '--kubeconfig=/etc/kubernetes/straddle.conf',
    },
  ],
  Peers: [
    {
      name: 'peer',
      kind: 'urls',
      default: '',
      description: 'A peer that is always there, in addition to those found. Repeatable.',
      example: '--peer=https://10.0.0.2:6443 --peer=https://10.0.0.3:6443',
    },
    {
      name: 'peer-sources',
      kind: 'choices',
      choices: ['leases', 'endpoints'],
      default: 'leases,endpoints',
      description:
        'Where peers are found: leases in kube-system, the EndpointSlices of default/kubernetes. Empty: only --peer.',
      example: '--peer-sources=leases',
    },
    {
      name: 'peer-server-name',
      kind: 'text',
      default: 'kubernetes.default.svc',
      description: 'Name that peers’ serving certificates must have.',
    },
    {
      name: 'surface-refresh',
      kind: 'duration',
      default: '2s',
      min: 50,
      max: DAY_MS,
      description: 'How often each server is asked (by conditional request) what it serves.',
    },
    {
      name: 'peer-gone-after',
      kind: 'duration',
      default: '6s',
      min: 100,
      max: DAY_MS,
      description: 'A peer that stays unreachable this long has departed. Not shorter than --surface-refresh.',
    },
    {
      name: 'departed-grace',
      kind: 'duration',
      default: '10m',
      max: 365 * DAY_MS,
      description:
        'How long what only a departed server served is answered 503 and kept in discovery as stale, before it is a 404.',
    },
    {
      name: 'lease-duration',
      kind: 'duration',
      default: '40s',
      min: 1_000,
      max: DAY_MS,
      description: 'How long this Straddle’s lease is valid without renewal. Whole seconds.',
    },
    {
      name: 'reroute-unknown-options',
      kind: 'choice',
      choices: ['true', 'false'],
      default: 'true',
      description:
        'Whether a read that a server refuses for a field selector or an option it does not know is sent to a peer of a newer version.',
      example: '--reroute-unknown-options=false',
    },
    {
      name: 'version-view',
      kind: 'choice',
      choices: ['local', 'oldest', 'newest'],
      default: 'local',
      description:
        'Whose /version is answered: that of the local server, or of the oldest or newest server of the control plane that is ready.',
      example: '--version-view=oldest',
    },
  ],
  Limits: [
    {
      name: 'failover-attempts',
      kind: 'count',
      default: '4',
      min: 1,
      max: 100,
      description: 'Most servers tried for one request, the first included.',
    },
    {
      name: 'max-requests-in-flight',
      kind: 'count',
      default: '800',
      min: 1,
      max: COUNT_MAX,
      description: 'Most requests on their way at once. A watch gives its place back once it streams.',
    },
    {
      name: 'max-requests-in-flight-per-user',
      kind: 'count',
      default: '200',
      min: 1,
      max: COUNT_MAX,
      description:
        'Most requests of one user on their way at once. All callers that are not authenticated count as one user.',
    },
    {
      name: 'max-requests-in-flight-per-peer',
      kind: 'count',
      default: '400',
      min: 1,
      max: COUNT_MAX,
      description: 'Most rerouted requests on their way to one peer at once.',
    },
    {
      name: 'max-queued-requests',
      kind: 'count',
      default: '1600',
      min: 0,
      max: COUNT_MAX,
      description: 'Most requests that wait, fairly by user, for a place in flight; beyond it the answer is 429.',
    },
    {
      name: 'queue-wait',
      kind: 'duration',
      default: '5s',
      max: DAY_MS,
      description: 'Longest wait in that queue; then the answer is 429.',
    },
    {
      name: 'max-long-running-requests',
      kind: 'count',
      default: '50000',
      min: 1,
      max: COUNT_MAX,
      description: 'Most watches and other long-running requests at once; a quarter of them for one user.',
    },
    {
      name: 'max-held-memory',
      kind: 'bytes',
      default: '256MiB',
      min: 1048576,
      max: 1099511627776,
      description:
        'Most memory for request bodies and replies that are held as a whole; an eighth of it for one user. A request that finds no memory waits as for a place in flight. The very large request heads of all connections may have half as much besides.',
    },
    {
      name: 'max-connections',
      kind: 'count',
      default: '10000',
      min: 1,
      max: COUNT_MAX,
      description: 'Most client connections at once.',
    },
    {
      name: 'max-connections-per-address',
      kind: 'count',
      default: '0',
      min: 0,
      max: COUNT_MAX,
      description:
        'Most client connections from one address. 0: half of --max-connections. Raise it where all clients come through one load balancer that hides their addresses.',
      example: '--max-connections-per-address=5000',
    },
    {
      name: 'max-streams-per-connection',
      kind: 'count',
      default: '250',
      min: 1,
      max: 10_000,
      description: 'Most requests at once on one HTTP/2 connection.',
    },
    {
      name: 'max-header-bytes',
      kind: 'bytes',
      default: '64KiB',
      min: 1_024,
      max: 1_048_576,
      description: 'Most bytes in the head of one request, request line included. kube-apiserver’s own limit is 1MiB.',
      example: '--max-header-bytes=128KiB',
    },
    {
      name: 'max-headers-count',
      kind: 'count',
      default: '1000',
      min: 10,
      max: 10_000,
      description: 'Most header lines in one request.',
    },
    {
      name: 'max-header-bytes-authenticated',
      kind: 'bytes',
      default: '1MiB',
      min: 1_024,
      max: 1_048_576,
      description:
        'Instead of --max-header-bytes, where it is larger, on connections with a client certificate that Straddle has verified: users and front proxies. The default is the limit of kube-apiserver, which has it for every client.',
      example: '--max-header-bytes-authenticated=256KiB',
    },
    {
      name: 'max-headers-count-authenticated',
      kind: 'count',
      default: '20000',
      min: 10,
      max: 100_000,
      description:
        'Instead of --max-headers-count, where it is larger, on the same connections. A front proxy sends a line for each group and each extra value of a user.',
      example: '--max-headers-count-authenticated=5000',
    },
    {
      name: 'header-timeout',
      kind: 'duration',
      default: '30s',
      min: 50,
      max: DAY_MS,
      description: 'A client must have sent the head of its request, and finished its TLS handshake, within this time.',
    },
    {
      name: 'client-progress-timeout',
      kind: 'duration',
      default: '30s',
      min: 50,
      max: DAY_MS,
      description:
        'A client that is waited for, for a request’s body or to take its reply, must send or take 4 KiB (or all that is left) within this time, or its request ends.',
    },
  ],
  Stopping: [
    {
      name: 'shutdown-delay',
      kind: 'duration',
      default: '0s',
      max: DAY_MS,
      description:
        'After SIGTERM, go on accepting this long while /readyz already says no, so that load balancers notice.',
      example: '--shutdown-delay=5s',
    },
    {
      name: 'shutdown-grace',
      kind: 'duration',
      default: '30s',
      max: DAY_MS,
      description: 'Longest wait for requests in flight to end after that.',
    },
  ],
  Logging: [
    {
      name: 'log-level',
      kind: 'choice',
      choices: ['debug', 'info', 'warn', 'error'],
      default: 'info',
      description: 'Least level that is logged. debug has a line for each rerouted request.',
      example: '--log-level=debug',
    },
    {
      name: 'log-format',
      kind: 'choice',
      choices: ['auto', 'json', 'text'],
      default: 'auto',
      description: 'auto is text on a terminal and JSON elsewhere.',
      example: '--log-format=json',
    },
  ],
} as const satisfies FlagTable;
