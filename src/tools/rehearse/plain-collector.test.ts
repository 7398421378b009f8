import { describe, expect, it } from 'vitest';
import {
  CONFIG_MAPS,
  FakeApi,
  fakeResource,
  NAMESPACES,
  POD_GROUPS,
} from '../../apiserver/controllers/fake-api.fixture.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { type Answerer, MixedApi } from './mixed-api.fixture.js';
import { PlainCollector } from './plain-collector.js';

const PLACES = fakeResource('example.com/v1/places', 'Place', { namespaced: false });
const PODGROUP = '/apis/scheduling.k8s.io/v1alpha2/namespaces/shop/podgroups/owner';

function setUp(answerer: Answerer | ((target: string) => Answerer)) {
  const store = new FakeApi([NAMESPACES, CONFIG_MAPS, POD_GROUPS, PLACES]);
  const owner = store.put(POD_GROUPS, { name: 'owner', namespace: 'shop' });
  const { uid } = owner['metadata'] as { uid: string };
  const reference = { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'owner', uid };
  store.put(CONFIG_MAPS, { name: 'owned', namespace: 'shop', ownerReferences: [reference] });
  store.put(CONFIG_MAPS, { name: 'free', namespace: 'shop' });
  const api = new MixedApi(store, answerer);
  const clock = new ManualClock();
  const collector = new PlainCollector(api, clock, 'shop');
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      await collector.round();
      await clock.advance(5_000);
    }
  };
  return { store, api, rounds, left: () => store.names(CONFIG_MAPS) };
}

describe('the plain garbage collector', () => {
  it('deletes an object whose owner exists, if a server without the owner’s kind replies 404', async () => {
    const { store, rounds, left } = setUp((target) => (target === PODGROUP ? 'older' : 'newer'));
    await rounds(1);
    expect(left()).toEqual(['free']);
    expect(store.names(POD_GROUPS)).toEqual(['owner']);
  });

  it('deletes nothing if all kinds are served', async () => {
    const { rounds, left } = setUp('newer');
    await rounds(5);
    expect(left()).toEqual(['owned', 'free']);
  });

  it('sends no GET for an owner that was in the last list', async () => {
    const { api, rounds, left } = setUp('newer');
    await rounds(1);
    api.answerer = (target) => (target === '/apis' ? 'newer' : 'older');
    await rounds(3);
    expect(api.asked.filter((each) => each === `GET ${PODGROUP}`)).toHaveLength(1);
    expect(left()).toEqual(['owned', 'free']);
  });

  it('deletes an object whose owner was deleted', async () => {
    const { store, rounds, left } = setUp('newer');
    await rounds(2);
    store.remove(POD_GROUPS, 'owner', 'shop');
    await rounds(2);
    expect(left()).toEqual(['free']);
  });

  it('keeps an object as long as its owner without a namespace exists', async () => {
    const { store, rounds, left } = setUp('newer');
    const uid = 'of-a-place';
    const reference = { apiVersion: 'example.com/v1', kind: 'Place', name: 'here', uid };
    store.put(CONFIG_MAPS, { name: 'placed', namespace: 'shop', ownerReferences: [reference] });
    store.put(PLACES, { name: 'here', uid });
    await rounds(2);
    expect(left()).toContain('placed');
    store.remove(PLACES, 'here');
    await rounds(2);
    expect(left()).not.toContain('placed');
  });

  it('treats an object of the same name with another UID as a missing owner', async () => {
    const { store, rounds, left } = setUp('newer');
    store.remove(POD_GROUPS, 'owner', 'shop');
    store.put(POD_GROUPS, { name: 'owner', namespace: 'shop' });
    await rounds(1);
    expect(left()).toEqual(['free']);
  });

  it.each(['away', 'older'] as const)('waits if the reply is 503, or if discovery lacks the kind (%s)', async (who) => {
    const { rounds, left } = setUp(who);
    await rounds(5);
    expect(left()).toEqual(['owned', 'free']);
  });
});
