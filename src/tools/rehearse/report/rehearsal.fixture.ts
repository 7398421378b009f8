import type {
  DifferenceUse,
  Example,
  HalfFindings,
  HalfResult,
  RehearsalResult,
  RehearsalSettings,
  RehearsalStep,
  SecondSample,
} from '../rehearsal-result.js';

const DIFFERENCES: readonly DifferenceUse[] = [
  {
    name: 'podcertificaterequests.v1.certificates.k8s.io',
    servedBy: '1.37',
    exercises: ['requests', 'watches', 'owners', 'namespaces'],
  },
  { name: 'csinodes.v1.storage.k8s.io/status', servedBy: '1.37', exercises: ['requests'] },
  {
    name: 'evictionrequests.v1.coordination.k8s.io',
    servedBy: '1.37',
    exercises: [],
    reason: '1.37 refuses an object of it (422 spec.target: Required value); put one into --manifests',
  },
];
export const SETTINGS: RehearsalSettings = {
  secondsPerStep: 10,
  settleSeconds: 30,
  requestsPerSecond: 120,
  clients: 6,
  controllers: 'plain',
  manifests: 2,
  exec: false,
};
const HOLD_MS = 10_000;
const REPLACE_MS = 3_400;
const FROM = '1.36';
const TO = '1.37';

/** Always the same sequence, so that a picture can be compared with the last one. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** A rehearsal as it is expected: harm with the proxy off, none with it on. */
export function rehearsal(changes: Partial<RehearsalResult> = {}): RehearsalResult {
  return {
    from: FROM,
    to: TO,
    startedAt: '2026-11-16T07:10:02.123Z',
    servers: 3,
    made: 'straddle apiserver',
    settings: SETTINGS,
    differences: DIFFERENCES,
    notes: [],
    halves: [half(false), half(true)],
    ...changes,
  };
}

export function half(proxy: boolean, changes: Partial<HalfResult> = {}): HalfResult {
  const steps = rollingSteps();
  const durationMs = steps.at(-1)!.endMs;
  const seconds = secondSamples(proxy, steps, durationMs);
  return {
    proxy,
    durationMs,
    steps,
    seconds,
    findings: findingsOf(proxy, seconds),
    examples: proxy ? EXAMPLES_ON : EXAMPLES_OFF,
    exec: [],
    leftInStore: 12,
    ...changes,
  };
}

export function findings(changes: Partial<HalfFindings> = {}): HalfFindings {
  return { ...findingsOf(true, []), ...changes };
}

function rollingSteps(): RehearsalStep[] {
  const names = [
    'hold',
    ...[1, 2, 3].flatMap((server) => [`upgrade server-${server} to ${TO}`, 'hold']),
    ...[3, 2, 1].flatMap((server) => [`roll server-${server} back to ${FROM}`, 'hold']),
  ];
  let beginMs = 0;
  return names.map((name) => {
    const endMs = beginMs + (name === 'hold' ? HOLD_MS : REPLACE_MS);
    const [, server, version] = / (server-\d) (?:to|back to) (.*)$/.exec(name) ?? [];
    const step = { name, beginMs, endMs };
    beginMs = endMs;
    return server === undefined || version === undefined ? step : { ...step, replaces: { server, version } };
  });
}

function secondSamples(proxy: boolean, steps: readonly RehearsalStep[], durationMs: number): SecondSample[] {
  const random = chance(proxy ? 7 : 11);
  const firstMs = steps[1]!.beginMs;
  const lastMs = steps.at(-2)!.endMs;
  const all = steps.filter(({ name }) => name.startsWith('upgrade')).at(-1)!.endMs;
  const back = steps.find(({ name }) => name.startsWith('roll'))!.beginMs;
  return Array.from({ length: Math.ceil(durationMs / 1_000) }, (_, second) => {
    const ms = second * 1_000;
    const isMixed = ms > firstMs && ms < lastMs && !(ms > all + 1_000 && ms < back);
    const isReplacing = steps.some(({ name, beginMs, endMs }) => name !== 'hold' && ms >= beginMs && ms < endMs);
    const p50Ms = (proxy ? 2.7 : 2.3) * (0.9 + 0.3 * random()) * (isReplacing ? 1.5 : 1);
    return {
      requests: Math.round(110 + 20 * random()),
      wrong404s: isMixed && !proxy ? Math.round(5 + 14 * random()) : 0,
      unavailable503s: isReplacing ? Math.round(random() * (proxy ? 3 : 2)) : 0,
      otherErrors: isReplacing && !proxy ? Math.round(2 * random()) : 0,
      discoveryFlaps: isMixed && !proxy ? Math.round(4 * random()) : 0,
      p50Ms,
      p99Ms: p50Ms * (4 + 3 * random()) * (isReplacing ? 9 : 1),
    };
  });
}

function findingsOf(proxy: boolean, seconds: readonly SecondSample[]): HalfFindings {
  const sum = (of: (second: SecondSample) => number) => seconds.reduce((total, each) => total + of(each), 0);
  return {
    requests: sum(({ requests }) => requests),
    wrong404s: sum(({ wrong404s }) => wrong404s),
    unavailable503s: sum(({ unavailable503s }) => unavailable503s),
    otherErrors: sum(({ otherErrors }) => otherErrors),
    collectedByMistake: { bad: proxy ? 0 : 4, of: 24 },
    notCollected: { bad: proxy ? 0 : 1, of: 8 },
    namespacesEndedEarly: { bad: proxy ? 0 : 2, of: 6 },
    namespacesStuck: { bad: proxy ? 0 : 1, of: 6 },
    discoveryFlaps: sum(({ discoveryFlaps }) => discoveryFlaps),
    brokenWatches: proxy ? 0 : 5,
    latency: proxy ? { p50Ms: 2.72, p99Ms: 21.4 } : { p50Ms: 2.31, p99Ms: 18.2 },
    latencyOfCommon: proxy ? { p50Ms: 2.5, p99Ms: 18.9 } : { p50Ms: 2.3, p99Ms: 18.2 },
    latencyOfSkewed: proxy ? { p50Ms: 3.61, p99Ms: 27.3 } : { p50Ms: 2.35, p99Ms: 17.7 },
  };
}

const EXAMPLES_OFF: readonly Example[] = [
  {
    atMs: 11_210,
    kind: 'wrong-404',
    text: 'GET /apis/certificates.k8s.io/v1/namespaces/rehearsal-3/podcertificaterequests/train: 404, "the server could not find the requested resource"',
  },
  {
    atMs: 11_402,
    kind: 'wrong-404',
    text: 'LIST /apis/certificates.k8s.io/v1/podcertificaterequests: 404 at server-2 (1.36)',
  },
  {
    atMs: 11_402,
    kind: 'wrong-404',
    text: 'POST /apis/certificates.k8s.io/v1/namespaces/rehearsal-1/podcertificaterequests: 404',
  },
  { atMs: 14_800, kind: 'discovery-flap', text: '/apis lost certificates.k8s.io/v1, which was there 1.0 s before' },
  {
    atMs: 17_100,
    kind: 'collected-by-mistake',
    text: 'ConfigMap rehearsal-2/of-train-4: its owner PodCertificateRequest train-4 exists',
  },
  {
    atMs: 25_310,
    kind: 'namespace-ended-early',
    text: 'Namespace passing-2: 3 PodCertificateRequests of it are still stored',
  },
  { atMs: 80_400, kind: 'namespace-stuck', text: 'Namespace passing-5: NamespaceDeletionDiscoveryFailure for 21 s' },
  {
    atMs: 24_020,
    kind: 'unavailable-503',
    text: 'GET /api/v1/namespaces/rehearsal-1/configmaps/a: 503, try again in 1 s',
  },
  {
    atMs: 27_900,
    kind: 'broken-watch',
    text: 'WATCH /apis/certificates.k8s.io/v1/podcertificaterequests ended with 404 after it was resumed',
  },
  {
    atMs: 23_950,
    kind: 'other-error',
    text: 'PUT /api/v1/namespaces/rehearsal-1/configmaps/b: connection reset by server-1',
  },
];

const EXAMPLES_ON: readonly Example[] = [
  {
    atMs: 24_020,
    kind: 'unavailable-503',
    text: 'GET /api/v1/namespaces/rehearsal-1/configmaps/a: 503, try again in 1 s',
  },
];
