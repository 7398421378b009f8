import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import type { JsonObject } from '../../kube/json.js';
import {
  CONFIG_MAPS,
  FakeApi,
  fakeResource,
  NAMESPACES,
  notFound,
  POD_GROUPS,
  PODS,
  status,
  unknownResource,
} from './fake-api.fixture.js';
import { fenced } from './fenced-client.js';
import { NamespaceController } from './namespace-controller.js';
import { CatalogueReader } from './resource-catalogue.js';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each();
});

function setUp(resources = [NAMESPACES, CONFIG_MAPS, PODS, POD_GROUPS]) {
  const clock = new ManualClock();
  const api = new FakeApi(resources, () => clock.nowMs());
  const state = { held: true };
  const start = () => {
    const client = fenced(api, () => state.held);
    const options = { client, reader: new CatalogueReader(client), clock, logger: silentLogger };
    const controller = new NamespaceController({ ...options, metrics: createMetrics() });
    cleanUps.push(() => controller.close());
    return controller;
  };
  api.put(NAMESPACES, { name: 'shop' }, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
  const deleteNamespace = () => api.request({ method: 'DELETE', target: '/api/v1/namespaces/shop' });
  const conditions = (): Record<string, string> => {
    const { status: shown } = api.get(NAMESPACES, 'shop') as { status?: { conditions?: JsonObject[] } };
    return Object.fromEntries((shown?.conditions ?? []).map(({ type, status }) => [String(type), String(status)]));
  };
  const isThere = () => api.get(NAMESPACES, 'shop') !== undefined;
  return { clock, api, state, start, deleteNamespace, conditions, isThere };
}

describe('the namespace controller', () => {
  it('does not change a namespace that is not being deleted', async () => {
    const { clock, api, start } = setUp();
    api.put(CONFIG_MAPS, { name: 'a', namespace: 'shop' });
    start();
    await clock.advance(60_000);
    expect(api.changes).toEqual([]);
  });

  it('deletes all objects of a deleted namespace and then the namespace, and nothing in others', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    for (const place of [CONFIG_MAPS, PODS, POD_GROUPS]) {
      api.put(place, { name: 'a', namespace: 'shop' });
      api.put(place, { name: 'b', namespace: 'other' });
    }
    start();
    await deleteNamespace();
    await clock.advance(10_000);
    expect(isThere()).toBe(false);
    for (const place of [CONFIG_MAPS, PODS, POD_GROUPS]) expect(api.names(place)).toEqual(['b']);
  });

  it('finishes namespaces that were deleted before it started', async () => {
    const { clock, start, deleteNamespace, isThere } = setUp();
    await deleteNamespace();
    start();
    await clock.advance(10_000);
    expect(isThere()).toBe(false);
  });

  it('deletes other objects only after the pods', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    api.put(CONFIG_MAPS, { name: 'a', namespace: 'shop' });
    api.put(PODS, { name: 'p', namespace: 'shop', finalizers: ['example.com/slow'] });
    start();
    await deleteNamespace();
    await clock.advance(20_000);
    expect(api.names(CONFIG_MAPS)).toEqual(['a']);
    api.remove(PODS, 'p', 'shop');
    await clock.advance(20_000);
    expect(api.names(CONFIG_MAPS)).toEqual([]);
    expect(isThere()).toBe(false);
  });

  it('deletes objects one by one for a resource without deletecollection', async () => {
    const verbs = ['get', 'list', 'delete', 'watch'];
    const single = fakeResource('example.com/v1/widgets', 'Widget', { verbs });
    const { clock, api, start, deleteNamespace, isThere } = setUp([NAMESPACES, single]);
    for (const name of ['a', 'b', 'c']) api.put(single, { name, namespace: 'shop' });
    start();
    await deleteNamespace();
    await clock.advance(10_000);
    expect(isThere()).toBe(false);
    expect(api.changes.filter((each) => each.includes('/widgets/'))).toHaveLength(3);
  });

  it('waits for finalizers of objects and reports them in the conditions', async () => {
    const { clock, api, start, deleteNamespace, conditions, isThere } = setUp();
    api.put(CONFIG_MAPS, { name: 'a', namespace: 'shop', finalizers: ['example.com/hold'] });
    start();
    await deleteNamespace();
    await clock.advance(60_000);
    expect(conditions()).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False',
      NamespaceDeletionGroupVersionParsingFailure: 'False',
      NamespaceDeletionContentFailure: 'False',
      NamespaceContentRemaining: 'True',
      NamespaceFinalizersRemaining: 'True',
    });
    expect(JSON.stringify(api.get(NAMESPACES, 'shop'))).toContain('example.com/hold in 1 resource instances');
    api.remove(CONFIG_MAPS, 'a', 'shop');
    await clock.advance(20_000);
    expect(isThere()).toBe(false);
  });

  it('waits for objects that other servers create shortly after the deletion', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    start();
    await deleteNamespace();
    await clock.advance(1_500);
    expect(isThere()).toBe(true);
    api.put(CONFIG_MAPS, { name: 'late', namespace: 'shop' });
    await clock.advance(20_000);
    expect(api.names(CONFIG_MAPS)).toEqual([]);
    expect(isThere()).toBe(false);
  });

  it.each([
    ['a 503', status(503, 'ServiceUnavailable')],
    ['a 403', status(403, 'Forbidden')],
    ['a 404 of a server that does not know the resource', unknownResource()],
    ['a 404 that names something', notFound('podgroups')],
    ['a 200 that is no list', { status: 200, body: { kind: 'PodGroup' } }],
    ['a 500', status(500, 'InternalError')],
  ])('never finishes a namespace after %s to a list request', async (_, answer) => {
    const { clock, api, start, deleteNamespace, conditions, isThere } = setUp();
    api.put(POD_GROUPS, { name: 'g', namespace: 'shop' });
    api.intercept = ({ method, target }) =>
      method === 'GET' && target.includes('/namespaces/shop/podgroups') ? answer : undefined;
    start();
    await deleteNamespace();
    await clock.advance(300_000);
    expect(isThere()).toBe(true);
    expect(conditions()).toMatchObject({ NamespaceDeletionContentFailure: 'True' });
    api.intercept = () => undefined;
    await clock.advance(30_000);
    expect(isThere()).toBe(false);
    expect(api.names(POD_GROUPS)).toEqual([]);
  });

  it('never finishes a namespace while list requests are reset', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    api.intercept = ({ target }) =>
      target.includes('podgroups') ? Promise.reject(new Error('connection reset')) : undefined;
    start();
    await deleteNamespace();
    await clock.advance(300_000);
    expect(isThere()).toBe(true);
  });

  it.each<[string, (api: FakeApi) => void]>([
    ['discovery fails', (api) => (api.discoveryFailure = new Error('503'))],
    ['a server is not read yet', (api) => (api.gaps = ['what b serves is not known yet'])],
    ['a version is stale', (api) => (api.resources = [NAMESPACES, CONFIG_MAPS, { ...POD_GROUPS, freshness: 'Stale' }])],
  ])('never finishes a namespace while %s', async (_, spoil) => {
    const { clock, api, start, deleteNamespace, conditions, isThere } = setUp();
    api.put(POD_GROUPS, { name: 'g', namespace: 'shop' });
    spoil(api);
    start();
    await deleteNamespace();
    await clock.advance(300_000);
    expect(isThere()).toBe(true);
    expect(conditions()).toMatchObject({ NamespaceDeletionDiscoveryFailure: 'True' });
    api.discoveryFailure = undefined;
    api.gaps = [];
    api.resources = [NAMESPACES, CONFIG_MAPS, POD_GROUPS];
    await clock.advance(30_000);
    expect(isThere()).toBe(false);
    expect(api.names(POD_GROUPS)).toEqual([]);
  });

  it('does not finish a namespace if discovery fails or grows during a pass', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp([NAMESPACES, CONFIG_MAPS]);
    api.put(POD_GROUPS, { name: 'g', namespace: 'shop' });
    let passes = 0;
    api.intercept = ({ target }) => {
      if (target.includes('/namespaces/shop/configmaps')) {
        passes++;
        if (passes % 2 === 1) api.resources = [NAMESPACES, CONFIG_MAPS, POD_GROUPS];
        else api.discoveryFailure = new Error('503');
      }
      if (target === '/api/v1/namespaces/shop') {
        api.resources = [NAMESPACES, CONFIG_MAPS];
        api.discoveryFailure = undefined;
      }
      return undefined;
    };
    start();
    await deleteNamespace();
    await clock.advance(120_000);
    expect(passes).toBeGreaterThan(5);
    expect(isThere()).toBe(true);
    api.intercept = () => undefined;
    api.discoveryFailure = undefined;
    api.resources = [NAMESPACES, CONFIG_MAPS, POD_GROUPS];
    await clock.advance(30_000);
    expect(isThere()).toBe(false);
    expect(api.names(POD_GROUPS)).toEqual([]);
  });

  it('does not finish a namespace if discovery was incomplete only at the start of the pass', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp([NAMESPACES, CONFIG_MAPS]);
    api.intercept = ({ target }) => {
      api.gaps = target === '/api/v1/namespaces/shop' ? ['what b serves is not known yet'] : [];
      return undefined;
    };
    start();
    await deleteNamespace();
    await clock.advance(60_000);
    expect(isThere()).toBe(true);
  });

  it('finishes a namespace after a series of 503s has ended', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    api.put(CONFIG_MAPS, { name: 'a', namespace: 'shop' });
    let count = 0;
    api.intercept = () => (++count % 3 === 0 ? undefined : status(503, 'ServiceUnavailable'));
    start();
    await clock.advance(20_000);
    api.intercept = () => undefined;
    await deleteNamespace();
    api.intercept = () => (++count % 3 === 0 ? undefined : status(503, 'ServiceUnavailable'));
    await clock.advance(120_000);
    expect(isThere()).toBe(true);
    api.intercept = () => undefined;
    await clock.advance(60_000);
    expect(isThere()).toBe(false);
  });

  it('writes nothing after the lease is lost during a pass', async () => {
    const { clock, api, state, start, deleteNamespace, isThere } = setUp();
    api.put(CONFIG_MAPS, { name: 'a', namespace: 'shop' });
    api.intercept = ({ target }) => {
      if (target.includes('/namespaces/shop/configmaps')) state.held = false;
      return undefined;
    };
    start();
    await deleteNamespace();
    api.changes.length = 0;
    await clock.advance(120_000);
    expect(api.changes).toEqual([]);
    expect(isThere()).toBe(true);
  });

  it('retries to finalize a namespace after a conflict', async () => {
    const { clock, api, start, deleteNamespace, isThere } = setUp();
    let hits = 0;
    api.intercept = ({ method, target }) => {
      if (method !== 'PUT' || !target.endsWith('/finalize') || hits++ > 0) return undefined;
      return status(409, 'Conflict');
    };
    start();
    await deleteNamespace();
    await clock.advance(30_000);
    expect(hits).toBe(2);
    expect(isThere()).toBe(false);
  });
});
