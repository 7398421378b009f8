import { describe, expect, it } from 'vitest';
import {
  CONFIG_MAPS,
  FakeApi,
  fakeResource,
  NAMESPACES,
  POD_GROUPS,
} from '../../apiserver/controllers/fake-api.fixture.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { resourceName } from '../../kube/gvr.js';
import { pathOf, resourceKindsOf } from '../../kube/resource-kind.js';
import { HalfRecord } from './half-record.js';
import { LoadClient } from './load-client.js';
import { type Answerer, MixedApi } from './mixed-api.fixture.js';
import { ServedTruth } from './served-truth.js';

const access = { url: '', caPem: '', certPem: '', keyPem: '' };
const PLACES = fakeResource('example.com/v1/places', 'Place', { namespaced: false });
const NONE = { bad: 0, of: 0 };
const COUNTS = { collectedByMistake: NONE, notCollected: NONE, namespacesEndedEarly: NONE, namespacesStuck: NONE };

async function setUp(answerer: (target: string) => Answerer) {
  const clock = new ManualClock();
  const store = new FakeApi([NAMESPACES, CONFIG_MAPS, POD_GROUPS, PLACES]);
  store.put(POD_GROUPS, { name: 'used', namespace: 'shop' });
  const api = new MixedApi(store, answerer);
  const servers = ['server-1', 'server-2'].map((name) => ({ name, version: '1.35', access }));
  const truth = new ServedTruth(clock, servers);
  const newer = resourceKindsOf((await store.discover()).groups);
  const older = newer.filter(({ group }) => group === '');
  truth.learn(
    '1.35',
    older.map(({ key }) => key),
  );
  const record = new HalfRecord(clock);
  const written: string[] = [];
  const client = new LoadClient(
    {
      name: 'client-1',
      namespace: 'shop',
      api,
      truth,
      record,
      clock,
      others: [],
      onWrite: ({ resource }, resourceVersion) => written.push(`${resource} ${resourceVersion}`),
    },
    0,
  );
  const run = async (requests: number): Promise<void> => {
    for (let count = 0; count < requests; count++) {
      client.step();
      await client.rest();
    }
  };
  const upgrade = (): void => {
    truth.entered('server-1', '1.36');
    const skews = newer
      .filter(({ group }) => group !== '')
      .map((kind) => ({ kind, name: resourceName(kind), template: { spec: {} } }));
    const [groups] = skews;
    truth.learn('1.36', [...newer.map(({ key }) => key), `${groups!.kind.key}/status`]);
    const status = { ...groups!, subresource: 'status', verbs: new Set(['get', 'patch']) };
    const target = `${pathOf(groups!.kind, 'shop', 'used')}/status`;
    client.begin({ resources: skews, subresources: [{ of: status, target }] });
  };
  const findings = () => record.result({ proxy: false, leftInStore: 0, counts: COUNTS }).findings;
  return { client, store, api, truth, run, upgrade, findings, written };
}

describe('LoadClient', () => {
  it('requests only common resources before the skewed one is served', async () => {
    const { api, run, findings } = await setUp(() => 'older');
    await run(60);
    expect(api.asked.filter((each) => each.includes('podgroups'))).toEqual([]);
    expect(findings()).toMatchObject({ wrong404s: 0, otherErrors: 0, unavailable503s: 0 });
  });

  it('counts every 404 for its objects, from servers that take turns', async () => {
    let turn = 0;
    const { run, upgrade, findings } = await setUp(() => (turn++ % 2 === 0 ? 'newer' : 'older'));
    upgrade();
    await run(100);
    expect(findings().wrong404s).toBeGreaterThan(5);
    expect(findings().otherErrors).toBe(0);
  });

  it('counts a 503 as a 503, and no 404 after the last server of the resource has left', async () => {
    const { store, api, truth, run, upgrade, findings } = await setUp(() => 'newer');
    upgrade();
    await run(100);
    expect(findings().wrong404s).toBe(0);
    expect(store.names(POD_GROUPS).length).toBeGreaterThan(0);
    api.answerer = () => 'away';
    await run(20);
    const { wrong404s, unavailable503s } = findings();
    expect(wrong404s).toBe(0);
    expect(unavailable503s).toBeGreaterThan(0);
    truth.leaves('server-1', '1.35');
    api.answerer = () => 'older';
    await run(50);
    expect(findings().wrong404s).toBe(0);
  });

  it('counts a lost connection as an error and continues', async () => {
    const { store, run, findings } = await setUp(() => 'newer');
    store.intercept = () => Promise.reject(new Error('socket hang up'));
    await run(5);
    store.intercept = () => undefined;
    await run(5);
    expect(findings()).toMatchObject({ otherErrors: expect.any(Number), requests: 10 });
    expect(findings().otherErrors).toBeGreaterThanOrEqual(4);
  });

  it('reports each acknowledged write with its resource version', async () => {
    const { store, run, upgrade, written } = await setUp(() => 'newer');
    upgrade();
    await run(100);
    const { items } = (await store.request({ method: 'GET', target: '/api/v1/namespaces/shop/configmaps' })).body as {
      items: { metadata: { resourceVersion: string } }[];
    };
    for (const { metadata } of items) expect(written).toContain(`configmaps ${metadata.resourceVersion}`);
    expect(written.some((each) => each.startsWith('podgroups'))).toBe(true);
  });

  it('uses every skewed resource in turn, with names of its own where there is no namespace', async () => {
    const { store, run, upgrade } = await setUp(() => 'newer');
    upgrade();
    await run(200);
    expect(store.names(POD_GROUPS)).toEqual(['used', 'client-1-0', 'client-1-1']);
    expect(store.names(PLACES)).toEqual(['shop-client-1-0', 'shop-client-1-1']);
  });

  it('reads and patches a subresource, and counts a 404 for it as wrong while a server serves it', async () => {
    const status = '/apis/scheduling.k8s.io/v1alpha2/namespaces/shop/podgroups/used/status';
    const { api, truth, run, upgrade, findings } = await setUp((target) => (target === status ? 'older' : 'newer'));
    upgrade();
    await run(66);
    const asked = api.asked.filter((each) => each.endsWith(status)).map((each) => each.split(' ')[0]);
    expect(new Set(asked)).toEqual(new Set(['GET', 'PATCH']));
    expect(findings().wrong404s).toBe(asked.length);
    truth.leaves('server-1', '1.35');
    await run(66);
    expect(findings().wrong404s).toBe(asked.length);
  });

  it('sends nothing for skewed resources after they were retired', async () => {
    const { client, api, run, upgrade } = await setUp(() => 'newer');
    upgrade();
    await run(30);
    client.retire();
    api.asked.length = 0;
    await run(60);
    expect(api.asked.filter((each) => each.includes('podgroups') || each.includes('places'))).toEqual([]);
  });
});
