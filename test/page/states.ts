import type {
  CheckState,
  FlowRow,
  FlowSecond,
  PageState,
  Reach,
  ServerState,
  SkewCell,
  SkewRow,
  Timeline,
} from '../../src/proxy/page/page-state.js';

/** The clock of the made-up server: hours before that of the browser, which must not matter. */
export const AT_MS = Date.UTC(2026, 10, 16, 7, 10, 0);
const MINUTE = 60_000;
const DAY = 86_400_000;
export const SERVERS = ['cp-1', 'cp-2', 'cp-3'];

/** Three servers in the middle of an upgrade: one new, two old. */
export function upgradeState(changes: Partial<PageState> = {}): PageState {
  return {
    kind: 'StraddleState',
    formatVersion: 1,
    server: 'cp-1',
    product: 'sidecar',
    straddleVersion: '0.1.0',
    atMs: AT_MS,
    verdict: {
      may: 'no',
      sentence:
        '1 of 3 servers on 1.37, all protected, 0 wrong 404s passed on; not now: only cp-3 serves storagemigrations.v1.storagemigration.k8s.io',
      reasons: [
        {
          id: 'single-server-api',
          text: 'Only cp-3 serves storagemigrations.v1.storagemigration.k8s.io: while it is replaced its requests are held with 503.',
          remedy: 'straddle gate --for cp-1 --accept storagemigrations.v1.storagemigration.k8s.io',
          isCommand: true,
        },
        {
          id: 'certificate-expiry',
          text: 'The certificate of cp-2 expires in 12 days.',
          remedy: 'Renew it before the upgrade goes on.',
          isCommand: false,
        },
      ],
    },
    servers: [
      server('cp-1'),
      server('cp-2', { certificateExpiresAtMs: AT_MS + 12.5 * DAY }),
      server('cp-3', { version: 'v1.37.1', emulatedVersion: null, inFlight: 41 }),
    ],
    reach: reachOf(SERVERS),
    skew: {
      servers: SERVERS,
      rows: [
        row('storagemigrations.v1.storagemigration.k8s.io', ['held', 'rerouted', 'served'], 40_000),
        row('podcertificaterequests.v1.certificates.k8s.io', ['rerouted', 'rerouted', 'served'], 3_000),
        row('csinodes.v1.storage.k8s.io/status', ['rerouted', 'stale', 'served'], 2 * 3_600_000),
        row('pods.v1/resize', ['served', 'served', 'absent'], null),
      ],
      alike: 212,
      left: 0,
    },
    flow: {
      recent: flowRows(40),
      seconds: flowSeconds(280),
      totals: { requests: 128_934, rerouted: 2_310, prevented404: 1_874, held503: 12, failovers: 5 },
      left: 318,
    },
    timeline: timeline(),
    clients: {
      rows: [
        { name: 'kubectl', version: 'v1.36.4', requests: 214, wouldHaveFailed: 31, lastAtMs: AT_MS - 4_000 },
        {
          name: 'kube-controller-manager',
          version: 'v1.36.4',
          requests: 90_112,
          wouldHaveFailed: 1_822,
          lastAtMs: AT_MS - 200,
        },
        {
          name: 'argocd-application-controller',
          version: 'v3.1.0',
          requests: 32_441,
          wouldHaveFailed: 21,
          lastAtMs: AT_MS - 1_100,
        },
        { name: 'kubelet', version: 'v1.36.4', requests: 5_021, wouldHaveFailed: 0, lastAtMs: AT_MS - 700 },
        { name: 'curl', version: '', requests: 2, wouldHaveFailed: 0, lastAtMs: AT_MS - 3 * 3_600_000 },
      ],
      left: 3,
    },
    checks: CHECKS,
    ...changes,
  };
}

const CHECKS: readonly CheckState[] = [
  { id: 'peer-reach', server: 'cp-2', verdict: 'ok', text: 'cp-2 reaches all peers.', remedy: null, isCommand: false },
  {
    id: 'aggregator-ca',
    server: 'cp-3',
    verdict: 'fail',
    text: 'cp-3 does not accept the front-proxy certificate: x509: certificate signed by unknown authority.',
    remedy: "straddle check --server cp-3 --explain aggregator-ca -o 'wide'",
    isCommand: true,
  },
  {
    id: 'certificate-expiry',
    server: 'cp-2',
    verdict: 'warn',
    text: 'The certificate expires in 12 days.',
    remedy: 'Renew it before the upgrade goes on.',
    isCommand: false,
  },
  {
    id: 'client-ways',
    server: null,
    verdict: 'unknown',
    text: 'The kubeconfig has no certificate authority: the chain cannot be judged.',
    remedy: null,
    isCommand: false,
  },
  {
    id: 'leases',
    server: null,
    verdict: 'ok',
    text: 'Every server renews its identity lease.',
    remedy: null,
    isCommand: false,
  },
];

export function server(name: string, changes: Partial<ServerState> = {}): ServerState {
  const number = Number(/\d+$/.exec(name)?.[0] ?? 1);
  return {
    name,
    isThis: name === 'cp-1',
    version: 'v1.36.4',
    emulatedVersion: null,
    state: 'ready',
    detail: '',
    endpoints: [
      { kind: 'API server', address: `10.0.${number}.1:6443`, usable: true },
      { kind: 'Straddle', address: `10.0.${number}.1:8443`, usable: true },
    ],
    leaseRenewedAtMs: AT_MS - 4_000,
    surfaceAtMs: AT_MS - 1_300,
    inFlight: 17 * number,
    certificateExpiresAtMs: AT_MS + 311 * DAY,
    passthrough: false,
    ...changes,
  };
}

export function reachOf(servers: readonly string[], broken: readonly (readonly [string, string])[] = []): Reach[] {
  return servers.flatMap((from) =>
    servers
      .filter((to) => to !== from)
      .map((to) => ({ from, to, reaches: !broken.some(([a, b]) => a === from && b === to) })),
  );
}

export function row(name: string, cells: readonly SkewCell[], usedMsAgo: number | null): SkewRow {
  return { name, cells, usedAtMs: usedMsAgo === null ? null : AT_MS - usedMsAgo };
}

const RESOURCES = [
  'pods.v1',
  'podcertificaterequests.v1.certificates.k8s.io',
  'leases.v1.coordination.k8s.io',
  'jobs.v1.batch/status',
];
const AGENTS = [
  'kube-controller-manager/v1.36.4 (linux/amd64) kubernetes/8f10a92/leader-election',
  'kubectl/v1.36.4 (linux/amd64) kubernetes/91b0b3d',
];
const KINDS = ['local', 'rerouted', 'local', 'local', 'held', 'local', 'own'] as const;

export function flowRow(id: number, changes: Partial<FlowRow> = {}): FlowRow {
  const kind = KINDS[id % KINDS.length]!;
  return {
    id,
    atMs: AT_MS - 20_000 + id * 130,
    arrivedAt: 'cp-1',
    answeredBy: kind === 'local' ? 'cp-1' : kind === 'rerouted' ? 'cp-3' : null,
    verb: ['list', 'get', 'watch', 'create', 'patch'][id % 5]!,
    resource: kind === 'own' ? '/readyz' : RESOURCES[id % RESOURCES.length]!,
    userAgent: AGENTS[id % AGENTS.length]!,
    status: kind === 'held' ? 503 : 200,
    why: kind === 'rerouted' ? 'only peers serve it' : kind === 'held' ? 'no live server serves it' : '',
    ms: 0.8 + (id % 13) * 1.7,
    kind,
    ...changes,
  };
}

export function flowRows(count: number): FlowRow[] {
  return Array.from({ length: count }, (_, index) => flowRow(count - index));
}

export function flowSeconds(count: number): FlowSecond[] {
  return Array.from({ length: count }, (_, index) => {
    const wave = Math.sin(index / 14) + 1.2;
    return {
      atMs: AT_MS - (count - index) * 1_000,
      requests: 400,
      rerouted: Math.round(9 * wave + (index % 5)),
      prevented404: Math.round(6 * wave),
      held503: index > 120 && index < 150 ? 3 + (index % 4) : 0,
      failovers: index === 121 ? 5 : 0,
    };
  });
}

function timeline(): Timeline {
  const start = AT_MS - 42 * MINUTE;
  const span = (from: number, to: number | null, version: string | null, state: ServerState['state'] = 'ready') => ({
    fromMs: start + from * MINUTE,
    toMs: to === null ? null : start + to * MINUTE,
    state,
    version,
  });
  const event = (at: number, name: string | null, kind: Timeline['events'][number]['kind'], text: string) => ({
    atMs: start + at * MINUTE,
    server: name,
    kind,
    text,
  });
  return {
    startedAtMs: start,
    lanes: [
      { server: 'cp-1', spans: [span(0, null, 'v1.36.4')] },
      { server: 'cp-2', spans: [span(0, 9, 'v1.36.4'), span(9, 9.7, 'v1.36.4', 'down'), span(9.7, null, 'v1.36.4')] },
      {
        server: 'cp-3',
        spans: [
          span(0, 24, 'v1.36.4'),
          span(24, 26.5, null, 'gone'),
          span(26.5, 27, 'v1.37.1', 'unread'),
          span(27, null, 'v1.37.1'),
        ],
      },
    ],
    events: [
      event(9, 'cp-2', 'left', 'connection refused'),
      event(9.7, 'cp-2', 'came', 'back after 42.0 s'),
      event(24, 'cp-3', 'left', 'its lease ended'),
      event(26.5, 'cp-3', 'came', 'back as 1.37.1'),
      event(26.6, 'cp-3', 'version', '1.36.4 → 1.37.1'),
      event(27.2, 'cp-3', 'api-appeared', 'storagemigrations.v1.storagemigration.k8s.io'),
      event(28, null, 'api-appeared', 'CustomResourceDefinition widgets.example.com'),
      event(30, 'cp-1', 'prevented-404', '12 requests for podcertificaterequests.v1.certificates.k8s.io'),
      event(30.1, 'cp-1', 'prevented-404', '40 requests for podcertificaterequests.v1.certificates.k8s.io'),
      event(33, 'cp-2', 'prevented-404', '9 requests for csinodes.v1.storage.k8s.io/status'),
    ],
    longestGap: { server: 'cp-3', ms: 150_000 },
  };
}

/** As large as the page must cope with: 50 servers, 5,000 rows. */
export function largeState(): PageState {
  const servers = Array.from({ length: 50 }, (_, index) => `control-plane-${index + 1}`);
  const cells: readonly SkewCell[] = ['served', 'rerouted', 'held', 'stale', 'absent'];
  return upgradeState({
    server: servers[0]!,
    servers: servers.map((name, index) => server(name, { isThis: index === 0 })),
    reach: reachOf(servers, [['control-plane-7', 'control-plane-9']]),
    skew: {
      servers,
      rows: Array.from({ length: 5_000 }, (_, index) =>
        row(
          `widgets${index}.v1.group${index % 40}.example.com`,
          servers.map((__, column) => cells[(index * 7 + column * 3) % 5]!),
          index % 3 === 0 ? index * 1_000 : null,
        ),
      ),
      alike: 3_000,
      left: 0,
    },
    timeline: {
      ...timeline(),
      lanes: servers.map((name) => ({ server: name, spans: timeline().lanes[2]!.spans })),
    },
  });
}
