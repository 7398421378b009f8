import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, FakeApi, NAMESPACES, POD_GROUPS, status } from '../../apiserver/controllers/fake-api.fixture.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { type Answerer, MixedApi } from './mixed-api.fixture.js';
import { PlainNamespaces } from './plain-namespaces.js';

async function setUp(answerer: Answerer | ((target: string) => Answerer)) {
  const store = new FakeApi([NAMESPACES, CONFIG_MAPS, POD_GROUPS]);
  for (const name of ['shop', 'other']) {
    store.put(NAMESPACES, { name }, { spec: { finalizers: ['kubernetes'] } });
    store.put(CONFIG_MAPS, { name: 'settings', namespace: name });
    store.put(POD_GROUPS, { name: 'group', namespace: name });
  }
  await store.request({ method: 'DELETE', target: '/api/v1/namespaces/shop' });
  const clock = new ManualClock();
  const controller = new PlainNamespaces(new MixedApi(store, answerer), clock, 'sh');
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      await controller.round();
      await clock.advance(5_000);
    }
  };
  return { store, rounds };
}

describe('the plain namespace controller', () => {
  it.each([
    ['discovery lacks a resource', (target: string): Answerer => (target === '/apis' ? 'older' : 'newer')],
    ['a server answers 404', (target: string): Answerer => (target === '/apis' ? 'newer' : 'older')],
  ])('finalizes a namespace with objects left behind, once %s', async (_, answerer) => {
    const { store, rounds } = await setUp(answerer);
    await rounds(2);
    expect(store.names(NAMESPACES)).toEqual(['other']);
    expect(store.get(POD_GROUPS, 'group', 'shop')).toBeDefined();
  });

  it('empties a namespace before it finalizes it, and no other, if all kinds are served', async () => {
    const { store, rounds } = await setUp('newer');
    await rounds(2);
    expect(store.names(NAMESPACES)).toEqual(['other']);
    expect(store.get(POD_GROUPS, 'group', 'shop')).toBeUndefined();
    expect(store.names(POD_GROUPS)).toEqual(['group']);
    expect(store.names(CONFIG_MAPS)).toEqual(['settings']);
  });

  it('waits as long as the reply for a collection is 503', async () => {
    const { store, rounds } = await setUp('newer');
    store.intercept = ({ target }) => (target.includes('/podgroups') ? status(503, 'ServiceUnavailable') : undefined);
    await rounds(3);
    expect(store.names(NAMESPACES)).toEqual(['shop', 'other']);
    store.intercept = () => undefined;
    await rounds(2);
    expect(store.names(NAMESPACES)).toEqual(['other']);
    expect(store.get(POD_GROUPS, 'group', 'shop')).toBeUndefined();
  });

  it('ignores namespaces without its prefix', async () => {
    const { store, rounds } = await setUp('newer');
    await store.request({ method: 'DELETE', target: '/api/v1/namespaces/other' });
    await rounds(2);
    expect(store.names(NAMESPACES)).toEqual(['other']);
    expect(store.get(CONFIG_MAPS, 'settings', 'other')).toBeDefined();
  });

  it('waits for objects with finalizers', async () => {
    const { store, rounds } = await setUp('newer');
    store.put(POD_GROUPS, { name: 'held', namespace: 'shop', finalizers: ['example.com/hold'] });
    await rounds(3);
    expect(store.names(NAMESPACES)).toEqual(['shop', 'other']);
  });
});
