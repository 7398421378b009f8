import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import type { ApiClient } from '../../kube/client/api-client.js';
import { Controllers } from './controllers.js';
import { CONFIG_MAPS, FakeApi, fakeResource, NAMESPACES, PODS } from './fake-api.fixture.js';

const LEASES = fakeResource('coordination.k8s.io/v1/leases', 'Lease');
const ACCOUNTS = fakeResource('v1/serviceaccounts', 'ServiceAccount');
const ALL = ['namespace', 'garbagecollector', 'serviceaccount'] as const;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each();
});

function setUp() {
  const clock = new ManualClock();
  const api = new FakeApi([NAMESPACES, LEASES, ACCOUNTS, CONFIG_MAPS, PODS], () => clock.nowMs());
  const start = (serverName: string, more: { isReady?: () => boolean; client?: ApiClient } = {}) => {
    const controllers = new Controllers({
      client: more.client ?? api,
      clock,
      logger: silentLogger,
      metrics: createMetrics(),
      serverName,
      enabled: ALL,
      rootCaPem: 'PEM',
      isReady: more.isReady ?? (() => true),
    });
    controllers.start();
    cleanUps.push(() => controllers.close());
    return controllers;
  };
  /** A client that tells whether it has written, and can be cut off from the lease alone or from everything. */
  const observed = () => {
    const seen = { writes: 0, cut: 'none' as 'none' | 'lease' | 'all' };
    const client: ApiClient = {
      async request(request) {
        const isLease = request.target.includes('/leases');
        if (seen.cut === 'all' || (seen.cut === 'lease' && isLease)) throw new Error('cut off');
        if (request.method !== 'GET' && !isLease) seen.writes++;
        return api.request(request);
      },
      watch: (request) => api.watch(request),
      discover: () => api.discover(),
    };
    return { seen, client };
  };
  const makeNamespace = (name: string) => api.put(NAMESPACES, { name }, { spec: { finalizers: ['kubernetes'] } });
  const hasAccount = (namespace: string) => api.get(ACCOUNTS, 'default', namespace) !== undefined;
  return { clock, api, start, observed, makeNamespace, hasAccount };
}

describe('controllers in several servers', () => {
  it('do not take part in the leader election before their server is ready', async () => {
    const { clock, api, start, makeNamespace, hasAccount } = setUp();
    makeNamespace('shop');
    let ready = false;
    const controllers = start('a', { isReady: () => ready });
    await clock.advance(10_000);
    expect([controllers.isLeader, hasAccount('shop'), api.changes]).toEqual([false, false, []]);
    ready = true;
    await clock.advance(2_000);
    expect([controllers.isLeader, hasAccount('shop')]).toEqual([true, true]);
  });

  it('write in one server only', async () => {
    const { clock, start, observed, makeNamespace } = setUp();
    const [one, two] = [observed(), observed()];
    start('a', one);
    start('b', two);
    for (let count = 0; count < 5; count++) {
      makeNamespace(`shop-${count}`);
      await clock.advance(5_000);
    }
    expect([one.seen.writes, two.seen.writes].sort((x, y) => x - y)).toEqual([0, 10]);
  });

  it('stop writes after their lease cannot be renewed, before another server becomes leader', async () => {
    const { clock, start, observed, makeNamespace, hasAccount } = setUp();
    const [one, two] = [observed(), observed()];
    const first = start('a', one);
    await clock.advance(1_000);
    const second = start('b', two);
    await clock.advance(5_000);
    one.seen.cut = 'lease';
    while (!second.isLeader) {
      await clock.advance(250);
      expect(first.isLeader && second.isLeader).toBe(false);
    }
    const before = one.seen.writes;
    makeNamespace('shop');
    await clock.advance(2_000);
    expect(hasAccount('shop')).toBe(true);
    expect(one.seen.writes).toBe(before);
  });

  it('continue in another server at once after the leader is closed', async () => {
    const { clock, start, makeNamespace, hasAccount } = setUp();
    const first = start('a');
    await clock.advance(1_000);
    start('b');
    await clock.advance(5_000);
    await first.close();
    makeNamespace('shop');
    await clock.advance(5_000);
    expect(hasAccount('shop')).toBe(true);
  });

  it('start again when the lease can be renewed again', async () => {
    const { clock, start, observed, makeNamespace, hasAccount } = setUp();
    const { seen, client } = observed();
    const controllers = start('a', { client });
    await clock.advance(1_000);
    seen.cut = 'all';
    await clock.advance(60_000);
    expect(controllers.isLeader).toBe(false);
    makeNamespace('shop');
    await clock.advance(5_000);
    expect(hasAccount('shop')).toBe(false);
    seen.cut = 'none';
    await clock.advance(10_000);
    expect([controllers.isLeader, hasAccount('shop')]).toEqual([true, true]);
  });
});
