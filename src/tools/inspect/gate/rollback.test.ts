import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kube/json.js';
import { type Surface, servedResources } from '../../../kube/surface.js';
import { FakePlane, type FakeServer } from '../inspected-plane.fixture.js';
import { inspectGate } from './gate-inspection.js';
import type { GateReason } from './gate-reason.js';
import type { GateReport } from './gate-report.js';
import type { LoadShipped } from './rollback.js';

let plane: FakePlane;

afterEach(() => plane.close());

const OLD = { '/v1/pods': 'get list', 'apps/v1/deployments': 'list' };
const NEW = {
  ...OLD,
  'batch/v2/jobs': 'get list create',
  'batch/v2/jobs/status': 'get',
  'apps/v2/deployments': 'list',
};
const JOBS = '/apis/batch/v2/jobs';

/** Surfaces of versions by the keys of their resources. */
const SHIPPED: Readonly<Record<string, { readonly byDefault: readonly string[]; readonly more: readonly string[] }>> = {
  '1.35': { byDefault: ['/v1/pods', 'apps/v1/deployments'], more: ['batch/v2/jobs'] },
  '1.36': { byDefault: ['/v1/pods', 'apps/v1/deployments', 'apps/v2/deployments', 'batch/v2/jobs'], more: [] },
};

const load: LoadShipped = async (minor) => {
  const version = SHIPPED[minor];
  return (
    version && { byDefault: surface(version.byDefault), everything: surface([...version.byDefault, ...version.more]) }
  );
};

function surface(keys: readonly string[]): Surface {
  const groups = keys.map((key) => {
    const [name = '', version = '', resource = ''] = key.split('/');
    return {
      metadata: name === '' ? {} : { name },
      versions: [{ version, resources: [{ resource, verbs: ['list'] }] }],
    };
  });
  return { resources: servedResources(groups), core: [], groups: [], kubernetesVersion: '' };
}

const object = (name: string): JsonObject => ({ metadata: { name, namespace: 'default' } });

function ask(asked: { readonly to?: string; readonly server?: string } = {}): Promise<GateReport> {
  return inspectGate({
    ...plane.door('a'),
    wanted: { for: 'rollback', server: asked.server, allow: new Set() },
    frontProxy: undefined,
    to: asked.to,
    load,
  });
}

async function planeOf(...servers: readonly (readonly [version: string, serves: FakeServer['serves']])[]) {
  plane = new FakePlane();
  const names = ['a', 'b', 'c'];
  await plane.start(
    ...servers.map(([version, serves], index) => ({
      name: names[index]!,
      kind: 'straddle' as const,
      version,
      serves: serves!,
    })),
  );
}

const OLD_SERVER = ['v1.35.8', OLD] as const;
const NEW_SERVER = ['v1.36.4', NEW] as const;

const stored = ({ reasons }: GateReport): GateReason => reasons.find(({ id }) => id === 'stored-objects')!;

describe('straddle gate --for=rollback', () => {
  it('is open while nothing is stored that only the newer servers serve', async () => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    plane.pages.set(JOBS, { items: [] });
    expect(await ask()).toMatchObject({ verdict: 'open', to: '1.35', reasons: [] });
  });

  it('counts objects that the older servers do not serve, and says how to find them', async () => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    const asked: string[] = [];
    plane.pages.set(JOBS, (query) => {
      asked.push(query.toString());
      return { items: [object('one')], metadata: { continue: 'x', remainingItemCount: 6 } };
    });
    const report = await ask();
    expect(report.verdict).toBe('closed');
    expect(stored(report)).toMatchObject({
      detail: '7 objects of jobs.v2.batch, which the servers of 1.35 do not serve, such as default/one',
      resources: ['jobs.v2.batch'],
      next: expect.stringContaining('kubectl get jobs.v2.batch --all-namespaces'),
    });
    expect(asked).toEqual(['limit=1']);
  });

  it.each([
    ['a list whose items are null', { kind: 'PartialObjectMetadataList', metadata: {}, items: null }, []],
    ['something else than a list', { kind: 'Status', metadata: {} }, ['unknown stored-objects']],
  ])('reads %s', async (_, page, wanted) => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    plane.pages.set(JOBS, page);
    expect((await ask()).reasons.map(({ id, verdict }) => `${verdict} ${id}`)).toEqual(wanted);
  });

  it('counts in pages, up to a bound, where a server does not say how many remain', async () => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    let pages = 0;
    plane.pages.set(JOBS, (query) => {
      pages++;
      const items = Array.from({ length: Number(query.get('limit')) }, (_, index) => object(`job-${index}`));
      return { items, metadata: { continue: 'more' } };
    });
    expect(stored(await ask()).detail).toMatch(/^at least 10000 objects of jobs\.v2\.batch/);
    expect(pages).toBe(21);
  });

  it.each([
    ['the number of them', { continue: 'more', remainingItemCount: 3 }],
    ['nothing else', { continue: 'more' }],
  ])('is not known from pages without objects after which there are more, with %s', async (_, metadata) => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    plane.pages.set(JOBS, () => ({ items: [], metadata }));
    expect((await ask()).reasons.map(({ id, verdict }) => `${verdict} ${id}`)).toEqual(['unknown stored-objects']);
  });

  it('does not count what the older servers serve in another version', async () => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    plane.pages.set(JOBS, { items: [] });
    plane.pages.set('/apis/apps/v2/deployments', { items: [object('one')] });
    expect((await ask()).reasons).toEqual([]);
  });

  it('lets APIs go with the last newer server if nothing is stored in them', async () => {
    await planeOf(OLD_SERVER, OLD_SERVER, NEW_SERVER);
    plane.pages.set(JOBS, { items: [] });
    expect(await ask({ server: 'c' })).toMatchObject({ verdict: 'open', server: 'c' });
    plane.pages.set(JOBS, { items: [object('one')] });
    const report = await ask({ server: 'c' });
    expect(report.reasons.map(({ id }) => id)).toEqual(['stored-objects']);
    expect(stored(report).detail).toContain('1 object of jobs.v2.batch');
  });

  it('takes the surface that comes with Straddle where no server runs the older version', async () => {
    const custom = { ...NEW, 'x.example/v1/widgets': 'get list' };
    await planeOf(['v1.36.4', custom], ['v1.36.4', custom]);
    plane.pages.set(JOBS, { items: [object('one')] });
    plane.pages.set('/apis/x.example/v1/widgets', { items: [object('one')] });
    const report = await ask({ to: '1.35' });
    expect(report.to).toBe('1.35');
    expect(report.reasons.map(({ detail }) => detail)).toEqual([
      '1 object of jobs.v2.batch, which 1.35 does not serve by default, such as default/one',
    ]);
  });

  it.each([
    [[NEW_SERVER, NEW_SERVER], undefined, 'all servers are 1.36, so the version to go back to is not known'],
    [[NEW_SERVER, NEW_SERVER], '1.36', 'no server is newer than 1.36'],
    [[NEW_SERVER, NEW_SERVER], '1.30', 'no server runs 1.30, and what 1.30 serves does not come with Straddle'],
    [
      [['v1.99.1', NEW] as const, ['v1.99.1', NEW] as const],
      '1.36',
      'no server runs 1.36, and what 1.99 serves does not come with Straddle',
    ],
  ])('is not known of %j to %s', async (servers, to, why) => {
    await planeOf(...servers);
    const report = await ask(to === undefined ? {} : { to });
    expect(report).toMatchObject({ verdict: 'unknown', to: null });
    expect(stored(report)).toMatchObject({ verdict: 'unknown', detail: why });
  });

  it('is not known without the right to list such objects', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'straddle', version: 'v1.35.8', serves: OLD },
      { name: 'b', kind: 'straddle', version: 'v1.36.4', serves: NEW, forbidden: ['jobs'] },
      { name: 'c', kind: 'straddle', version: 'v1.36.4', serves: NEW, forbidden: ['jobs'] },
    );
    const report = await ask();
    expect(report.verdict).toBe('unknown');
    expect(stored(report)).toMatchObject({
      detail: 'not allowed to list jobs.v2.batch, which the servers of 1.35 do not serve',
      next: 'Run it as a user with the right to list jobs.v2.batch.',
    });
  });

  it('is not known if the server that serves such objects does not find them', async () => {
    await planeOf(OLD_SERVER, NEW_SERVER, NEW_SERVER);
    const report = await ask();
    expect(report.verdict).toBe('unknown');
    expect(stored(report).detail).toContain('could not be listed at b: it answered 404');
  });

  it('goes by the version that a server emulates', async () => {
    const page = (emulated: string) => ({
      status: 200,
      text: `kube-apiserver statusz\n\nBinary version: 1.36.4\nEmulation version: ${emulated}\n`,
    });
    const flagz = { status: 404, text: '' };
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'straddle', serves: OLD, zpages: { '/statusz': page('1.35'), '/flagz': flagz } },
      { name: 'b', kind: 'straddle', serves: NEW, zpages: { '/statusz': page('1.36'), '/flagz': flagz } },
      { name: 'c', kind: 'straddle', serves: NEW, zpages: { '/statusz': page('1.36'), '/flagz': flagz } },
    );
    plane.pages.set(JOBS, { items: [] });
    expect(await ask()).toMatchObject({ verdict: 'open', to: '1.35' });
  });
});
