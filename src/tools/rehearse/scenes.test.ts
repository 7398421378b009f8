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
import { resourceKindsOf } from '../../kube/resource-kind.js';
import { HalfRecord } from './half-record.js';
import { MeasuredClient } from './measured-client.js';
import { MixedApi } from './mixed-api.fixture.js';
import { NamespacesScene } from './namespaces-scene.js';
import { OwnersScene } from './owners-scene.js';
import type { Stage } from './scene.js';
import { ServedTruth } from './served-truth.js';

const PLACES = fakeResource('example.com/v1/places', 'Place', { namespaced: false });
const WIDGETS = fakeResource('example.com/v1/widgets', 'Widget');

async function setUp(...skewed: (typeof POD_GROUPS)[]) {
  const clock = new ManualClock();
  const store = new FakeApi([NAMESPACES, CONFIG_MAPS, POD_GROUPS, PLACES, WIDGETS]);
  const api = new MixedApi(store, 'newer');
  const newer = resourceKindsOf((await store.discover()).groups);
  const record = new HalfRecord(clock);
  const names = (skewed.length === 0 ? [POD_GROUPS] : skewed).map(({ resource }) => resource);
  const skews = names.map((name) => {
    const kind = newer.find(({ resource }) => resource === name)!;
    return { kind, name: resourceName(kind), template: { spec: {} } };
  });
  const stage: Stage = {
    skews,
    prefix: 'test',
    namespace: 'shop',
    straight: { serving: () => api },
    client: new MeasuredClient(api, record),
    truth: new ServedTruth(clock, []),
    record,
    clock,
    signal: new AbortController().signal,
    note: () => {},
  };
  return { store, stage };
}

describe('OwnersScene', () => {
  it('counts no harm while all dependents of existing owners exist', async () => {
    const { stage } = await setUp();
    const scene = new OwnersScene(stage);
    await scene.make(3);
    await scene.inspect();
    expect(scene.collectedByMistake).toEqual({ bad: 0, of: 6 });
  });

  it('counts a dependent that is gone although its owner exists', async () => {
    const { store, stage } = await setUp();
    const scene = new OwnersScene(stage);
    await scene.make(2);
    store.remove(CONFIG_MAPS, 'test-owner-1-dependent-1', 'shop');
    await scene.inspect();
    await scene.inspect();
    expect(scene.collectedByMistake).toEqual({ bad: 1, of: 4 });
  });

  it('counts no harm for dependents whose owner was deleted before, by any client', async () => {
    const { store, stage } = await setUp();
    const scene = new OwnersScene(stage);
    await scene.make(1);
    store.remove(POD_GROUPS, 'test-owner-1', 'shop');
    store.remove(CONFIG_MAPS, 'test-owner-1-dependent-1', 'shop');
    await scene.inspect();
    expect(scene.collectedByMistake.bad).toBe(0);
  });

  it('makes owners of each skewed kind in turn, also of those without a namespace', async () => {
    const { store, stage } = await setUp(POD_GROUPS, PLACES);
    const scene = new OwnersScene(stage);
    await scene.make(3);
    expect(store.names(POD_GROUPS)).toEqual(['test-owner-1', 'test-owner-3']);
    expect(store.names(PLACES)).toEqual(['test-owner-2']);
    store.remove(CONFIG_MAPS, 'test-owner-2-dependent-1', 'shop');
    await scene.inspect();
    expect(scene.collectedByMistake).toEqual({ bad: 1, of: 6 });
  });

  it('makes nothing if no resource differs', async () => {
    const { store, stage } = await setUp();
    const scene = new OwnersScene({ ...stage, skews: [] });
    await scene.make(3);
    expect(store.names(CONFIG_MAPS)).toEqual([]);
  });

  it('counts the dependents of a deleted owner until they are gone', async () => {
    const { store, stage } = await setUp();
    const scene = new OwnersScene(stage);
    await scene.make(2);
    await scene.deleteOldest();
    store.remove(CONFIG_MAPS, 'test-owner-1-dependent-1', 'shop');
    await scene.inspect();
    expect(scene.notCollected).toEqual({ bad: 1, of: 2 });
    expect(scene.collectedByMistake).toEqual({ bad: 0, of: 2 });
    store.remove(CONFIG_MAPS, 'test-owner-1-dependent-2', 'shop');
    await scene.inspect();
    expect(scene.notCollected).toEqual({ bad: 0, of: 2 });
  });
});

describe('NamespacesScene', () => {
  const deleteAll = async (store: FakeApi, place: typeof POD_GROUPS, namespace: string): Promise<void> => {
    for (const name of store.names(place)) store.remove(place, name, namespace);
  };

  it('counts no harm if a namespace of the same name has no old objects', async () => {
    const { store, stage } = await setUp();
    const scene = new NamespacesScene(stage);
    await scene.make(1);
    await deleteAll(store, POD_GROUPS, 'test-doomed-1');
    await scene.deleteOldest();
    await scene.inspect();
    expect(scene.endedEarly).toEqual({ bad: 0, of: 1 });
    expect(scene.stuck).toEqual({ bad: 0, of: 1 });
  });

  it('counts a namespace as ended early if the next one of that name has its old objects', async () => {
    const { stage } = await setUp();
    const scene = new NamespacesScene(stage);
    await scene.make(1);
    // The fake lets a namespace go at once that nobody holds.
    await scene.deleteOldest();
    await scene.inspect();
    expect(scene.endedEarly).toEqual({ bad: 1, of: 1 });
  });

  it('fills namespaces with objects of every skewed resource that has a namespace, and finds each that is back', async () => {
    const { store, stage } = await setUp(POD_GROUPS, PLACES, WIDGETS);
    const scene = new NamespacesScene(stage);
    await scene.make(1);
    expect(store.names(POD_GROUPS)).toEqual(['object-1']);
    expect(store.names(WIDGETS)).toEqual(['object-2']);
    await deleteAll(store, POD_GROUPS, 'test-doomed-1');
    await scene.deleteOldest();
    await scene.inspect();
    expect(scene.endedEarly).toEqual({ bad: 1, of: 1 });
  });

  it('makes no namespace if no namespaced resource differs', async () => {
    const { store, stage } = await setUp(PLACES);
    const scene = new NamespacesScene(stage);
    await scene.make(2);
    expect(store.names(NAMESPACES)).toEqual([]);
    expect(scene.waiting).toBe(0);
  });

  it('does not count new objects in the next namespace as old ones', async () => {
    const { store, stage } = await setUp();
    const scene = new NamespacesScene(stage);
    await scene.make(1);
    await deleteAll(store, POD_GROUPS, 'test-doomed-1');
    store.put(POD_GROUPS, { name: 'object-1', namespace: 'test-doomed-1' });
    await scene.deleteOldest();
    await scene.inspect();
    expect(scene.endedEarly).toEqual({ bad: 0, of: 1 });
  });

  it('counts a deleted namespace as stuck as long as it exists', async () => {
    const { store, stage } = await setUp();
    const scene = new NamespacesScene(stage);
    await scene.make(1);
    await store.request({
      method: 'PATCH',
      target: '/api/v1/namespaces/test-doomed-1',
      body: { spec: { finalizers: ['kubernetes'] } },
    });
    await scene.deleteOldest();
    await scene.inspect();
    expect(scene.stuck).toEqual({ bad: 1, of: 1 });
    expect(scene.endedEarly).toEqual({ bad: 0, of: 0 });
  });
});
