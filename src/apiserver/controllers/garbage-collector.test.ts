import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import {
  CONFIG_MAPS,
  FakeApi,
  type FakeResource,
  fakeResource,
  NAMESPACES,
  notFound,
  POD_GROUPS,
  PODS,
  status,
  unknownResource,
} from './fake-api.fixture.js';
import { fenced } from './fenced-client.js';
import { GarbageCollector } from './garbage-collector.js';
import { CatalogueReader } from './resource-catalogue.js';

const EVENTS = fakeResource('v1/events', 'Event');
const NODES = fakeResource('v1/nodes', 'Node', { namespaced: false });
const SETS = fakeResource('apps/v1/replicasets', 'ReplicaSet');
const NS = 'shop';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each();
});

function setUp(resources: FakeResource[] = [NAMESPACES, CONFIG_MAPS, PODS, POD_GROUPS, EVENTS, NODES, SETS]) {
  const clock = new ManualClock();
  const api = new FakeApi(resources, () => clock.nowMs());
  const state = { held: true };
  const start = async () => {
    const client = fenced(api, () => state.held);
    const options = { client, reader: new CatalogueReader(client), clock, logger: silentLogger };
    const collector = new GarbageCollector({ ...options, metrics: createMetrics() });
    cleanUps.push(() => collector.close());
    await clock.advance(2_000);
  };
  const put = (place: FakeResource, name: string, more: JsonObject = {}): JsonObject =>
    api.put(place, { name, ...(place.namespaced ? { namespace: NS } : {}), ...more });
  const has = (place: FakeResource, name: string) => api.names(place).includes(name);
  const remove = (place: FakeResource, name: string, propagationPolicy = 'Background') =>
    api.request({ method: 'DELETE', target: targetOf(place, name), body: { propagationPolicy } });
  return { clock, api, state, start, put, has, remove };
}

function targetOf({ group, version, resource, namespaced }: FakeResource, name: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespaced ? `/namespaces/${NS}` : ''}/${resource}/${name}`;
}

function ref(owner: JsonObject, more: JsonObject = {}): JsonObject {
  const { name, uid } = metadataOf(owner);
  return { apiVersion: owner['apiVersion']!, kind: owner['kind']!, name: name!, uid: uid!, ...more };
}

function owned(...owners: JsonObject[]): JsonObject {
  return { ownerReferences: owners };
}

describe('garbage collection in the background', () => {
  it('deletes dependents of a deleted owner, and their dependents', async () => {
    const { clock, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    const pod = put(PODS, 'pod', owned(ref(set)));
    put(CONFIG_MAPS, 'leaf', owned(ref(pod)));
    put(PODS, 'free');
    await start();
    await remove(SETS, 'set');
    await clock.advance(5_000);
    expect([has(PODS, 'pod'), has(CONFIG_MAPS, 'leaf'), has(PODS, 'free')]).toEqual([false, false, true]);
  });

  it('deletes dependents whose owner was deleted before the collector started', async () => {
    const { clock, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await remove(SETS, 'set');
    await start();
    await clock.advance(5_000);
    expect(has(PODS, 'pod')).toBe(false);
  });

  it('deletes a dependent that is created after the deletion of its owner', async () => {
    const { clock, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    await start();
    await remove(SETS, 'set');
    await clock.advance(5_000);
    put(PODS, 'late', owned(ref(set)));
    await clock.advance(5_000);
    expect(has(PODS, 'late')).toBe(false);
  });

  it('treats an owner of the same name with another uid as a different owner', async () => {
    const { clock, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    await remove(SETS, 'set');
    const again = put(SETS, 'set');
    put(PODS, 'new', owned(ref(again)));
    await clock.advance(5_000);
    expect([has(PODS, 'pod'), has(PODS, 'new')]).toEqual([false, true]);
  });

  it('keeps a dependent with another owner, and removes its reference to the deleted one', async () => {
    const { clock, api, start, put, remove } = setUp();
    const [one, two] = [put(SETS, 'one'), put(SETS, 'two')];
    put(PODS, 'pod', owned(ref(one), ref(two)));
    await start();
    await remove(SETS, 'one');
    await clock.advance(5_000);
    expect(metadataOf(api.get(PODS, 'pod', NS)!)['ownerReferences']).toEqual([ref(two)]);
    await remove(SETS, 'two');
    await clock.advance(5_000);
    expect(api.get(PODS, 'pod', NS)).toBeUndefined();
  });

  it('accepts a cluster-scoped owner of a namespaced object', async () => {
    const { clock, start, put, has, remove } = setUp();
    const node = put(NODES, 'node');
    put(PODS, 'pod', owned(ref(node)));
    await start();
    await clock.advance(10_000);
    expect(has(PODS, 'pod')).toBe(true);
    await remove(NODES, 'node');
    await clock.advance(5_000);
    expect(has(PODS, 'pod')).toBe(false);
  });

  it('never deletes a cluster-scoped object with a namespaced owner, and records an event', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(NODES, 'node', owned(ref(set)));
    await start();
    await remove(SETS, 'set');
    await clock.advance(60_000);
    expect(has(NODES, 'node')).toBe(true);
    put(NODES, 'other', owned({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'never-seen' }));
    await clock.advance(60_000);
    expect(has(NODES, 'other')).toBe(true);
    const events = api.names(EVENTS).map((name) => api.get(EVENTS, name, 'default')!);
    expect(events.map(({ reason }) => reason)).toContain('OwnerRefInvalidNamespace');
  });

  it('treats an owner in another namespace as absent, and records an event', async () => {
    const { clock, api, start, put, has } = setUp();
    const far = api.put(SETS, { name: 'far', namespace: 'elsewhere' });
    put(PODS, 'pod', owned(ref(far)));
    await start();
    await clock.advance(10_000);
    expect(has(PODS, 'pod')).toBe(false);
    expect(has(SETS, 'far')).toBe(true);
    expect(api.names(EVENTS)).toHaveLength(1);
  });

  it('deletes only the dependent whose reference has the uid of the owner but a wrong name', async () => {
    const { clock, start, put, has } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'mistaken', owned({ ...ref(set), name: 'typo' }));
    put(PODS, 'right', owned(ref(set)));
    await start();
    await clock.advance(30_000);
    expect([has(PODS, 'mistaken'), has(PODS, 'right'), has(SETS, 'set')]).toEqual([false, true, true]);
  });

  it('does not delete a dependent that gets another owner just before the DELETE', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const [one, two] = [put(SETS, 'one'), put(SETS, 'two')];
    put(PODS, 'pod', owned(ref(one)));
    await start();
    let adopted = false;
    api.intercept = async ({ method, target }) => {
      if (method !== 'DELETE' || !target.endsWith('/pods/pod') || adopted) return undefined;
      adopted = true;
      await api.request({ method: 'PATCH', target, body: { metadata: owned(ref(two)) } });
      return undefined;
    };
    await remove(SETS, 'one');
    await clock.advance(30_000);
    expect(adopted).toBe(true);
    expect(has(PODS, 'pod')).toBe(true);
  });
});

describe('garbage collection with incomplete information', () => {
  it.each([
    ['a 503', status(503, 'ServiceUnavailable')],
    ['a 403', status(403, 'Forbidden')],
    ['a 404 of a server that does not know the resource', unknownResource()],
    ['a 404 that names nothing', status(404, 'NotFound')],
    ['a 200 that is no object', { status: 200, body: {} }],
  ])('does not treat %s as the absence of an owner', async (_, answer) => {
    const { clock, api, start, put, has } = setUp();
    put(PODS, 'pod', owned({ apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'g', uid: 'u' }));
    api.intercept = ({ target }) => (target.includes('/podgroups/') ? answer : undefined);
    await start();
    await clock.advance(300_000);
    expect(has(PODS, 'pod')).toBe(true);
    api.intercept = () => undefined;
    await clock.advance(60_000);
    expect(has(PODS, 'pod')).toBe(false);
  });

  it('keeps dependents of a kind that no server serves, until a server serves it', async () => {
    const { clock, api, start, put, has } = setUp([PODS, SETS]);
    const group = api.put(POD_GROUPS, { name: 'g', namespace: NS });
    put(PODS, 'kept', owned(ref(group)));
    put(PODS, 'dead', owned({ ...ref(group), uid: 'another' }));
    await start();
    await clock.advance(300_000);
    expect([has(PODS, 'kept'), has(PODS, 'dead')]).toEqual([true, true]);
    api.resources = [PODS, SETS, POD_GROUPS];
    await clock.advance(60_000);
    expect([has(PODS, 'kept'), has(PODS, 'dead')]).toEqual([true, false]);
  });

  it('is not blocked by an unresolvable reference to the same uid', async () => {
    const { clock, start, put, has } = setUp([PODS, SETS]);
    put(PODS, 'unknown', owned({ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' }));
    put(PODS, 'dead', owned({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 's', uid: 'u' }));
    await start();
    put(PODS, 'late', owned({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 't', uid: 'u' }));
    await clock.advance(60_000);
    expect([has(PODS, 'unknown'), has(PODS, 'dead'), has(PODS, 'late')]).toEqual([true, false, false]);
  });

  it('ignores a 404 for a kind whose servers have departed', async () => {
    const { clock, api, start, put, has } = setUp();
    const group = put(POD_GROUPS, 'g');
    put(PODS, 'pod', owned(ref(group)));
    await start();
    api.resources = [PODS, SETS, { ...POD_GROUPS, freshness: 'Stale' }];
    api.watchRefusal = status(503, 'ServiceUnavailable');
    api.cutWatches();
    put(PODS, 'other', owned({ ...ref(group), uid: 'another' }));
    await clock.advance(300_000);
    expect([has(PODS, 'pod'), has(PODS, 'other')]).toEqual([true, true]);
  });

  it('ignores a 404 with the name of the owner while no live server serves its kind', async () => {
    const { clock, api, start, put, has } = setUp([PODS, SETS, { ...POD_GROUPS, freshness: 'Stale' }]);
    put(PODS, 'pod', owned({ apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'g', uid: 'u' }));
    api.intercept = ({ target }) => (target.includes('/podgroups/') ? notFound('g') : undefined);
    await start();
    await clock.advance(300_000);
    expect(has(PODS, 'pod')).toBe(true);
  });

  it('ignores a 404 if the kind disappears from discovery during the request', async () => {
    const { clock, api, start, put, has } = setUp();
    put(PODS, 'pod', owned({ apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'g', uid: 'u' }));
    let asked = 0;
    api.intercept = ({ target }) => {
      // Comes back whenever the dependent is looked at, and goes whenever its owner is.
      api.resources = target.includes('/podgroups/') ? [PODS, SETS] : [PODS, SETS, POD_GROUPS];
      if (!target.includes('/podgroups/')) return undefined;
      asked++;
      return notFound('g');
    };
    await start();
    for (let turn = 0; turn < 60; turn++) {
      api.resources = [PODS, SETS, POD_GROUPS];
      await clock.advance(1_000);
    }
    expect(asked).toBeGreaterThan(5);
    expect(has(PODS, 'pod')).toBe(true);
  });

  it('deletes nothing while discovery cannot be read', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    api.discoveryFailure = new Error('503');
    await remove(SETS, 'set');
    await clock.advance(120_000);
    expect(has(PODS, 'pod')).toBe(true);
    api.discoveryFailure = undefined;
    await clock.advance(60_000);
    expect(has(PODS, 'pod')).toBe(false);
  });

  it('deletes exactly the dependents of deleted owners in spite of many 503 and 404 replies', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const sets = Array.from({ length: 20 }, (_, index) => put(SETS, `set-${index}`));
    for (const [index, set] of sets.entries()) put(PODS, `pod-${index}`, owned(ref(set)));
    await start();
    let seed = 1;
    const chance = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let index = 0; index < 20; index += 2) await remove(SETS, `set-${index}`);
    api.intercept = () => (chance() < 0.6 ? (chance() < 0.5 ? unknownResource() : status(503, 'x')) : undefined);
    api.cutWatches();
    await clock.advance(60_000);
    api.intercept = () => undefined;
    await clock.advance(120_000);
    for (let index = 0; index < 20; index++) expect(has(PODS, `pod-${index}`)).toBe(index % 2 === 1);
  });

  it('deletes dependents of a custom resource that was deleted before its definition disappeared, and no others', async () => {
    const widgets = fakeResource('example.com/v1/widgets', 'Widget');
    const { clock, api, start, put, has } = setUp([PODS, SETS]);
    await start();
    api.resources = [PODS, SETS, widgets];
    await clock.advance(2_000);
    const widget = put(widgets, 'w');
    const other = put(widgets, 'x');
    put(PODS, 'of-w', owned(ref(widget)));
    put(PODS, 'of-x', owned(ref(other)));
    await clock.advance(2_000);
    // Its objects are deleted before a definition goes; one that was not seen to go may come back.
    api.remove(widgets, 'w', NS);
    await Promise.resolve();
    api.resources = [PODS, SETS];
    await clock.advance(60_000);
    expect([has(PODS, 'of-w'), has(PODS, 'of-x')]).toEqual([false, true]);
  });

  it('writes nothing after the lease is lost', async () => {
    const { clock, api, state, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    await remove(SETS, 'set');
    api.intercept = ({ method }) => {
      if (method === 'GET') state.held = false;
      return undefined;
    };
    api.changes.length = 0;
    await clock.advance(60_000);
    expect(api.changes).toEqual([]);
    expect(has(PODS, 'pod')).toBe(true);
  });

  it('finds owners that were deleted while a watch was interrupted', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    api.watchRefusal = status(410, 'Expired');
    api.cutWatches();
    await clock.advance(100);
    await remove(SETS, 'set');
    await clock.advance(1_000);
    api.watchRefusal = undefined;
    await clock.advance(60_000);
    expect(has(PODS, 'pod')).toBe(false);
  });
});

describe('foreground deletion', () => {
  it('keeps an owner until the dependents that block it are gone', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'slow', { ...owned(ref(set, { blockOwnerDeletion: true })), finalizers: ['example.com/hold'] });
    put(PODS, 'free', owned(ref(set)));
    await start();
    await remove(SETS, 'set', 'Foreground');
    await clock.advance(30_000);
    expect([has(PODS, 'slow'), has(PODS, 'free'), has(SETS, 'set')]).toEqual([true, false, true]);
    expect(metadataOf(api.get(PODS, 'slow', NS)!)['deletionTimestamp']).toBeDefined();
    api.remove(PODS, 'slow', NS);
    await clock.advance(5_000);
    expect(has(SETS, 'set')).toBe(false);
  });

  it('deletes each generation of dependents before its owners', async () => {
    const { clock, api, start, put, remove } = setUp();
    const set = put(SETS, 'set');
    const pod = put(PODS, 'pod', owned(ref(set, { blockOwnerDeletion: true })));
    put(CONFIG_MAPS, 'leaf', owned(ref(pod, { blockOwnerDeletion: true })));
    await start();
    await remove(SETS, 'set', 'Foreground');
    await clock.advance(30_000);
    expect([...api.names(SETS), ...api.names(PODS), ...api.names(CONFIG_MAPS)]).toEqual([]);
    const ends = api.changes.filter((each) => /^(PATCH|DELETE) \S*(leaf|pods\/pod)/.test(each));
    expect(ends[0]).toContain('DELETE /api/v1/namespaces/shop/pods/pod');
    expect(ends[1]).toContain('configmaps/leaf');
    expect(ends.at(-1)).toContain('PATCH /api/v1/namespaces/shop/pods/pod');
  });

  it('deletes a cycle of owners that block each other', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const one = put(SETS, 'one', { uid: 'ring-1' });
    const two = put(SETS, 'two', { uid: 'ring-2', ...owned(ref(one, { blockOwnerDeletion: true })) });
    await api.request({
      method: 'PATCH',
      target: targetOf(SETS, 'one'),
      body: { metadata: owned(ref(two, { blockOwnerDeletion: true })) },
    });
    await start();
    await remove(SETS, 'one', 'Foreground');
    await clock.advance(60_000);
    expect([has(SETS, 'one'), has(SETS, 'two')]).toEqual([false, false]);
  });

  it('waits for a dependent that is created during the deletion', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    const hold = { finalizers: ['example.com/hold'] };
    put(PODS, 'first', { ...owned(ref(set, { blockOwnerDeletion: true })), ...hold });
    await start();
    await remove(SETS, 'set', 'Foreground');
    await clock.advance(1_000);
    put(PODS, 'late', { ...owned(ref(set, { blockOwnerDeletion: true })), ...hold });
    api.remove(PODS, 'first', NS);
    await clock.advance(30_000);
    expect(has(SETS, 'set')).toBe(true);
    expect(metadataOf(api.get(PODS, 'late', NS)!)['deletionTimestamp']).toBeDefined();
    api.remove(PODS, 'late', NS);
    await clock.advance(30_000);
    expect(has(SETS, 'set')).toBe(false);
  });

  it('does not finish while a server with possible dependents is unread', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    api.gaps = ['what b serves is not known yet'];
    await start();
    await remove(SETS, 'set', 'Foreground');
    await clock.advance(300_000);
    expect(has(SETS, 'set')).toBe(true);
    put(POD_GROUPS, 'g', owned(ref(set, { blockOwnerDeletion: true })));
    api.gaps = [];
    await clock.advance(60_000);
    expect([has(SETS, 'set'), has(POD_GROUPS, 'g')]).toEqual([false, false]);
  });
});

describe('deletion with orphaned dependents', () => {
  it('removes the owner reference from the dependents, then deletes the owner only', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const [set, other] = [put(SETS, 'set'), put(SETS, 'other')];
    put(PODS, 'one', owned(ref(set)));
    put(PODS, 'two', owned(ref(set, { controller: true }), ref(other)));
    await start();
    await remove(SETS, 'set', 'Orphan');
    await clock.advance(60_000);
    expect(has(SETS, 'set')).toBe(false);
    expect(metadataOf(api.get(PODS, 'one', NS)!)['ownerReferences']).toBeUndefined();
    expect(metadataOf(api.get(PODS, 'two', NS)!)['ownerReferences']).toEqual([ref(other)]);
  });

  it('keeps the owner while the patch of a dependent fails with 503', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    api.intercept = ({ method, target }) =>
      method === 'PATCH' && target.endsWith('/pods/pod') ? status(503, 'ServiceUnavailable') : undefined;
    await remove(SETS, 'set', 'Orphan');
    await clock.advance(120_000);
    expect([has(SETS, 'set'), has(PODS, 'pod')]).toEqual([true, true]);
    api.intercept = () => undefined;
    await clock.advance(60_000);
    expect([has(SETS, 'set'), has(PODS, 'pod')]).toEqual([false, true]);
  });

  it('keeps the owner while a kind with dependents is stale, and then releases them', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(POD_GROUPS, 'g', owned(ref(set)));
    api.resources = [PODS, SETS, { ...POD_GROUPS, freshness: 'Stale' }];
    await start();
    await remove(SETS, 'set', 'Orphan');
    await clock.advance(300_000);
    expect(has(SETS, 'set')).toBe(true);
    api.resources = [PODS, SETS, POD_GROUPS];
    await clock.advance(60_000);
    expect([has(SETS, 'set'), has(POD_GROUPS, 'g')]).toEqual([false, true]);
    await clock.advance(60_000);
    expect(has(POD_GROUPS, 'g')).toBe(true);
  });

  it('releases a dependent that is created while others are released', async () => {
    const { clock, api, start, put, has, remove } = setUp();
    const set = put(SETS, 'set');
    put(PODS, 'pod', owned(ref(set)));
    await start();
    let came = false;
    api.intercept = ({ method, target }) => {
      if (method === 'PATCH' && target.endsWith('/pods/pod') && !came) {
        came = true;
        put(PODS, 'late', owned(ref(set)));
      }
      return undefined;
    };
    await remove(SETS, 'set', 'Orphan');
    await clock.advance(60_000);
    expect(came).toBe(true);
    expect([has(SETS, 'set'), has(PODS, 'pod'), has(PODS, 'late')]).toEqual([false, true, true]);
  });
});
