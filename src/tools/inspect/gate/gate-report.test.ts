import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kube/json.js';
import { checkReport } from '../check-report.js';
import { FakePlane, type FakeServer, NOW_MS } from '../inspected-plane.fixture.js';
import { inspect } from '../inspection.js';
import { MetricsPage } from '../metrics-text.js';
import { readSurfaces } from '../surfaces.js';
import { checkReasons } from './check-reasons.js';
import { type GateOptions, inspectGate } from './gate-inspection.js';
import { type GateReason, REASON_IDS, type ReasonId } from './gate-reason.js';
import { exitCodeOf, type GateReport } from './gate-report.js';
import { gateDetails, gateLine } from './gate-text.js';
import { serverReasons } from './server-reasons.js';

let plane: FakePlane;

afterEach(() => plane.close());

interface Asked {
  readonly server?: string;
  readonly allow?: readonly ReasonId[];
  readonly given?: readonly string[];
}

function ask({ server, allow = [], given = [] }: Asked = {}): Promise<GateReport> {
  const options: GateOptions = {
    ...plane.door('a'),
    given,
    wanted: { for: 'upgrade', server, allow: new Set(allow) },
    frontProxy: undefined,
    to: undefined,
    load: () => Promise.reject(new Error('not expected')),
  };
  return inspectGate(options);
}

/** Two good servers, and a third with what is wrong with it. */
async function gate(fault: Partial<FakeServer>, asked: Asked = {}, others: Partial<FakeServer> = {}) {
  plane = new FakePlane();
  await plane.start(
    { name: 'a', kind: 'straddle', ...others },
    { name: 'b', kind: 'straddle', ...others },
    { name: 'c', kind: 'straddle', ...fault },
  );
  return ask(asked);
}

const idsOf = ({ reasons }: GateReport) => reasons.map(({ id, verdict }) => `${verdict} ${id}`);
const reasonOf = ({ reasons }: GateReport, id: ReasonId): GateReason => reasons.find((each) => each.id === id)!;

describe('straddle gate', () => {
  it('is open if every server is protected, ready and in agreement', async () => {
    const report = await gate({});
    expect(report).toMatchObject({ verdict: 'open', reasons: [], for: 'upgrade', server: null, to: null });
    expect(exitCodeOf(report)).toBe(0);
    expect(gateLine(report)).toBe('open\n');
  });

  it('is open with the native proxy on every server', async () => {
    plane = new FakePlane();
    const serves = { '/v1/pods': 'get list', 'apps/v1/deployments': 'get list' };
    await plane.start({ name: 'a', kind: 'native', serves }, { name: 'b', kind: 'native', serves });
    expect(idsOf(await ask())).toEqual([]);
  });

  it.each([
    ['whose metrics have no failures yet', new MetricsPage('# TYPE other gauge\n'), []],
    ['that shows no metrics', undefined, ['unknown peers', 'unknown peers']],
  ])('judges the native proxy of a server %s', async (_, metrics, wanted) => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native' }, { name: 'b', kind: 'native' });
    const { servers, ...rest } = await inspect(plane.door('a'));
    const inspection = {
      ...rest,
      servers: servers.map((each) => ({
        ...each,
        readings: each.readings.map((reading) => ({ ...reading, metrics, metricsRefusal: 'not allowed' })),
      })),
    };
    const { surfaces } = await readSurfaces(
      servers.map(({ server }) => server),
      plane.door('a'),
    );
    const read = new Map(surfaces.map((each) => [each.name, each]));
    const check = checkReport({ inspection, surfaces: read, ways: [], frontProxy: undefined });
    expect(checkReasons(check, inspection, []).map(({ id, verdict }) => `${verdict} ${id}`)).toEqual(wanted);
  });

  it('is closed while a server does not answer', async () => {
    const report = await gate({ down: true });
    expect(reasonOf(report, 'unreachable')).toMatchObject({
      detail: `c (${plane.address('c')}): connection refused`,
      servers: ['c'],
    });
    expect(exitCodeOf(report)).toBe(1);
  });

  it('is closed while the API server behind a Straddle takes no requests', async () => {
    await gate({});
    const { servers, ...rest } = await inspect(plane.door('a'));
    const metrics = new MetricsPage('straddle_host_ready 0\n');
    const down = servers.map((each) =>
      each.server.name === 'c'
        ? { ...each, readings: each.readings.map((reading) => ({ ...reading, metrics })) }
        : each,
    );
    expect(serverReasons({ ...rest, servers: down }).reasons).toMatchObject([
      { id: 'not-ready', verdict: 'closed', servers: ['c'], detail: expect.stringContaining('takes no requests') },
    ]);
  });

  it('is closed while a server is not protected', async () => {
    const report = await gate({ kind: 'plain' });
    expect(idsOf(report)).toContain('closed unprotected');
    expect(reasonOf(report, 'unprotected')).toMatchObject({
      servers: ['c'],
      next: expect.stringContaining('straddle proxy'),
    });
  });

  it('is closed while a Straddle has no peer CA, with its own next step', async () => {
    const report = await gate({ peerCa: false });
    const reasons = report.reasons.filter(({ id }) => id === 'unprotected');
    expect(reasons.map(({ next }) => next).join(' ')).toContain('Start its Straddle with --peer-ca-file');
  });

  it('is closed while the protection of a server is switched off', async () => {
    const report = await gate({ passthrough: true });
    expect(idsOf(report)).toEqual(['closed passthrough']);
    expect(reasonOf(report, 'passthrough').next).toContain('straddle passthrough off');
  });

  it('is closed while a server has not been read by others', async () => {
    const report = await gate({}, {}, { reaches: ['a', 'b'] });
    expect(idsOf(report)).toEqual(['closed rollout']);
    expect(reasonOf(report, 'rollout').detail).toBe(
      'c is expected and not back: a, b have not read yet what it serves',
    );
  });

  it('is closed while a server that no source names is waited for', async () => {
    const report = await gate({
      metrics: 'straddle_peer_usable{peer="d",address="10.0.0.4:6443",kind="straddle"} 0\n',
    });
    expect(reasonOf(report, 'rollout')).toMatchObject({
      servers: ['d'],
      detail: expect.stringContaining('d is expected'),
    });
  });

  it('is closed while a server cannot reach another that it could once', async () => {
    const age = 'straddle_surface_age_seconds{server="c"} 300\n';
    const report = await gate({}, {}, { reaches: ['a', 'b'], metrics: age });
    expect(idsOf(report)).toEqual(['closed peers', 'closed peers']);
    expect(reasonOf(report, 'peers').detail).toContain('not reached at');
  });

  it('is closed while a lease is not renewed', async () => {
    const report = await gate({ leaseAgeMs: 90_000 });
    expect(idsOf(report)).toEqual(['closed rollout']);
    expect(reasonOf(report, 'rollout').next).toContain('straddle forget c');
  });

  it('is closed while one server shows another discovery', async () => {
    plane = new FakePlane();
    const [old, young] = [{ '/v1/pods': 'get' }, { '/v1/pods': 'get', 'batch/v1/jobs': 'list' }];
    await plane.start(
      {
        name: 'a',
        kind: 'straddle',
        serves: old,
        reaches: [],
        metrics: 'straddle_surface_age_seconds{server="b"} 1\nstraddle_surface_age_seconds{server="c"} 1\n',
      },
      { name: 'b', kind: 'straddle', serves: young },
      { name: 'c', kind: 'straddle', serves: young },
    );
    const report = await ask();
    expect(reasonOf(report, 'discovery')).toMatchObject({
      detail: 'the discovery of a lacks jobs.v1.batch',
      servers: ['a'],
      resources: ['jobs.v1.batch'],
    });
  });

  it('is closed while an API is left with one server, unless another one is replaced', async () => {
    const serves = { '/v1/pods': 'get list', 'batch/v1/jobs': 'get', 'batch/v1/jobs/status': 'get' };
    const report = await gate({ serves });
    expect(idsOf(report)).toEqual(['closed sole-server']);
    expect(reasonOf(report, 'sole-server')).toMatchObject({
      detail: 'only c serves jobs.v1.batch',
      servers: ['c'],
      resources: ['jobs.v1.batch'],
    });
    expect(await ask({ server: 'A' })).toMatchObject({ verdict: 'open', server: 'a' });
    expect(await ask({ server: plane.address('b') })).toMatchObject({ verdict: 'open', server: 'b' });
    expect((await ask({ server: 'c' })).verdict).toBe('closed');
  });

  it('is closed while a subresource or a verb is left with one server', async () => {
    const report = await gate({ serves: { '/v1/pods': 'get list patch', '/v1/pods/resize': 'patch' } });
    expect(reasonOf(report, 'sole-server').resources).toEqual(['pods.v1 (patch)', 'pods.v1/resize']);
  });

  it('is closed if there is one server only', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle' });
    expect(reasonOf(await ask(), 'sole-server').detail).toContain('a is the only server that answers');
  });

  it('is closed while departed servers are held, and names what is held', async () => {
    const held = {
      remembers: { 'batch/v1/jobs': 'get' },
      metrics: `straddle_departed_servers 1\nstraddle_departed_since_seconds{server="d"} ${NOW_MS / 1_000}\n`,
    };
    const report = await gate(held, {}, held);
    expect(idsOf(report)).toEqual(['closed stale-surface']);
    expect(reasonOf(report, 'stale-surface')).toMatchObject({
      detail: 'd went away and is still waited for: jobs.v1.batch is answered 503',
      next: expect.stringContaining('straddle forget d'),
      servers: ['d'],
      resources: ['jobs.v1.batch'],
    });
  });

  it('is closed while a departed server is waited for, also by a Straddle that does not name it', async () => {
    const report = await gate({ metrics: 'straddle_departed_servers 1\n' });
    expect(reasonOf(report, 'stale-surface').detail).toBe('1 server went away and is still waited for');
  });

  it('is closed while a certificate is about to expire', async () => {
    const report = await gate({ certificate: { notAfter: new Date(NOW_MS + 3 * 24 * 3_600_000) } });
    expect(idsOf(report)).toEqual(['closed certificates']);
    expect(reasonOf(report, 'certificates').detail).toContain('expires in');
  });

  it('is closed while the front-proxy certificate of a server ends within hours, and notes it within weeks', async () => {
    const expires = (hours: number) => ({
      frontProxy: undefined,
      metrics: `straddle_front_proxy_certificate_expiry_seconds{common_name="front-proxy-client"} ${NOW_MS / 1_000 + hours * 3_600}\n`,
    });
    const report = await gate(expires(3));
    expect(idsOf(report)).toEqual(['closed certificates']);
    expect(reasonOf(report, 'certificates').detail).toBe('c: its front-proxy certificate expires in 3h');
    await plane.close();
    const later = await gate(expires(72), {}, expires(72));
    expect(later).toMatchObject({ verdict: 'open', notes: [expect.stringMatching(/^a, b, c: .* expires in 3 days/)] });
  });

  it('is closed if the clock of a server is far off', async () => {
    expect(idsOf(await gate({ clockOffMs: 120_000 }))).toEqual(['closed checks']);
  });

  it('accepts the reasons that the operator allows, and no others', async () => {
    const serves = { '/v1/pods': 'get list', 'batch/v1/jobs': 'get' };
    const report = await gate({ serves, clockOffMs: 120_000 }, { allow: ['sole-server'] });
    expect(idsOf(report)).toEqual(['allowed sole-server', 'closed checks']);
    expect(gateLine(report)).toBe('closed: checks (allowed: sole-server)\n');
    const open = await ask({ allow: ['sole-server', 'checks'] });
    expect(exitCodeOf(open)).toBe(0);
    expect(gateLine(open)).toBe('open (allowed: sole-server, checks)\n');
    expect(gateDetails(open)).toContain('  allowed, sole-server: only c serves jobs.v1.batch\n');
  });
});

describe('straddle gate and storage', () => {
  const SERVES = { '/v1/pods': 'get list', 'storagemigration.k8s.io/v1/storageversionmigrations': 'get list' };
  const PATH = '/apis/storagemigration.k8s.io/v1/storageversionmigrations';

  const migration = (name: string, condition?: string): JsonObject => ({
    metadata: { name },
    spec: { resource: { group: 'apps', resource: 'deployments' } },
    status: { conditions: condition ? [{ type: condition, status: 'True' }] : [] },
  });

  async function withMigrations(...items: JsonObject[]) {
    plane = new FakePlane();
    plane.pages.set(PATH, { items });
    await plane.start({ name: 'a', kind: 'straddle', serves: SERVES }, { name: 'b', kind: 'straddle', serves: SERVES });
    return ask();
  }

  it.each([
    ['that has not begun', undefined],
    ['that runs', 'Running'],
  ])('is closed while there is a migration %s', async (_, condition) => {
    const report = await withMigrations(migration('m', condition), migration('n', 'Succeeded'));
    expect(idsOf(report)).toEqual(['closed migration']);
    expect(reasonOf(report, 'migration').detail).toBe('a storage migration is in progress: m (deployments.apps)');
  });

  it('is open after migrations, and notes those that failed', async () => {
    const report = await withMigrations(migration('m', 'Succeeded'), migration('n', 'Failed'));
    expect(report).toMatchObject({ verdict: 'open', notes: ['storage migrations that failed: n'] });
  });

  it('is not known of more migrations than are read', async () => {
    plane = new FakePlane();
    plane.pages.set(PATH, () => ({ items: [migration('m', 'Succeeded')], metadata: { continue: 'more' } }));
    await plane.start({ name: 'a', kind: 'straddle', serves: SERVES }, { name: 'b', kind: 'straddle', serves: SERVES });
    expect(idsOf(await ask())).toEqual(['unknown migration']);
  });

  it('is closed while a server stores in a version that another cannot decode', async () => {
    plane = new FakePlane();
    const serves = { '/v1/pods': 'get list', 'internal.apiserver.k8s.io/v1alpha1/storageversions': 'list' };
    const versions = (...ids: readonly [string, string]) => ({
      metadata: { name: 'apps.deployments' },
      status: {
        storageVersions: [
          { apiServerID: ids[0], encodingVersion: 'apps/v2', decodableVersions: ['apps/v1', 'apps/v2'] },
          { apiServerID: ids[1], encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] },
        ],
      },
    });
    plane.storageVersions.push(versions('lease-a', 'lease-b'), versions('lease-a', 'gone'));
    await plane.start({ name: 'a', kind: 'straddle', serves }, { name: 'b', kind: 'straddle', serves });
    const report = await ask();
    expect(idsOf(report)).toEqual(['closed stored-versions']);
    expect(reasonOf(report, 'stored-versions').detail).toBe(
      'deployments.apps is stored in apps/v2, which b cannot decode',
    );
  });

  it('is not known of more stored versions than are read', async () => {
    plane = new FakePlane();
    const serves = { '/v1/pods': 'get list', 'internal.apiserver.k8s.io/v1alpha1/storageversions': 'list' };
    const path = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
    plane.pages.set(path, () => ({ items: [], metadata: { continue: 'more' } }));
    await plane.start({ name: 'a', kind: 'straddle', serves }, { name: 'b', kind: 'straddle', serves });
    expect(idsOf(await ask())).toEqual(['unknown stored-versions']);
  });
});

describe('straddle gate with too few rights', () => {
  const MIGRATIONS = 'storagemigration.k8s.io/v1/storageversionmigrations';

  it.each([
    ['leases', 'unknown servers', 'list leases.coordination.k8s.io in kube-system'],
    ['endpointslices', 'unknown servers', 'list endpointslices.discovery.k8s.io in default'],
    ['/pods', 'unknown servers', 'list pods in kube-system'],
    ['configmaps', 'unknown servers', 'get configmaps extension-apiserver-authentication in kube-system'],
    ['/metrics', 'unknown not-ready', 'get the non-resource URL /metrics'],
    ['/readyz', 'unknown not-ready', 'get the non-resource URL /readyz'],
    ['storageversionmigrations', 'unknown migration', 'list storageversionmigrations.storagemigration.k8s.io'],
  ])('is never open without the right to %s', async (path, id, right) => {
    plane = new FakePlane();
    plane.pages.set(`/apis/${MIGRATIONS}`, { items: [] });
    const good: Omit<FakeServer, 'name'> = {
      kind: 'straddle',
      serves: { '/v1/pods': 'get list', [MIGRATIONS]: 'list' },
      forbidden: [path],
    };
    await plane.start({ name: 'a', ...good }, { name: 'b', ...good });
    // Without leases only the door is known, which is not the point here.
    const report = await ask({ given: [plane.address('a'), plane.address('b')] });
    expect(idsOf(report)).toContain(id);
    expect(exitCodeOf(report)).toBe(2);
    expect(report.reasons.map(({ next }) => next).join('\n')).toContain(`with the right to ${right}.`);
  });

  it('is not known if nothing tells where the servers are', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle', lease: false }, { name: 'b', kind: 'straddle', lease: false });
    const report = await ask({ allow: REASON_IDS });
    expect(report.verdict).toBe('unknown');
    expect(reasonOf(report, 'servers')).toMatchObject({ next: 'Give the addresses of all servers with --address.' });
    expect(reasonOf(report, 'servers').detail).toContain('give the servers with --address');
  });

  it('is not known of a server that nobody knows', async () => {
    const report = await gate({ serves: { '/v1/pods': 'get list', 'batch/v1/jobs': 'get' } }, { server: 'x' });
    expect(idsOf(report)).toEqual(['unknown servers']);
    expect(reasonOf(report, 'servers').detail).toBe('no server is called x; the cluster tells of a, b, c');
  });
});
