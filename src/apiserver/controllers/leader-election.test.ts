import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import type { ApiClient } from '../../kube/client/api-client.js';
import { FakeApi, fakeResource, status } from './fake-api.fixture.js';
import { fenced, LeadershipLost } from './fenced-client.js';
import { LEASE_NAME, LeaderElection } from './leader-election.js';

const LEASES = fakeResource('coordination.k8s.io/v1/leases', 'Lease');

function setUp() {
  const clock = new ManualClock();
  const api = new FakeApi([LEASES], () => clock.nowMs());
  const events: string[] = [];
  const stand = (serverName: string, client: ApiClient = api): LeaderElection => {
    const election = new LeaderElection({
      client,
      clock,
      logger: silentLogger,
      serverName,
      onGained: () => events.push(`${serverName} gained`),
      onLost: () => events.push(`${serverName} lost`),
    });
    election.start();
    return election;
  };
  /** The lease as one server sees it when that server can be cut off. */
  const cuttable = () => {
    const state = { cut: false };
    const client: ApiClient = {
      request: (request) => (state.cut ? Promise.reject(new Error('cut off')) : api.request(request)),
      watch: (request) => api.watch(request),
      discover: () => api.discover(),
    };
    return { state, client };
  };
  return { clock, api, events, stand, cuttable };
}

describe('leader election', () => {
  it('elects one of several candidates, which stays leader while it renews the lease', async () => {
    const { clock, events, stand } = setUp();
    const all = ['a', 'b', 'c'].map((name) => stand(name));
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      expect(all.filter((each) => each.isHeld())).toHaveLength(1);
    }
    expect(events).toHaveLength(1);
  });

  it('elects another leader at once after the leader is closed', async () => {
    const { clock, events, stand } = setUp();
    const a = stand('a');
    await settle();
    const b = stand('b');
    await clock.advance(1_000);
    await a.close();
    expect(a.isHeld()).toBe(false);
    await clock.advance(4_000);
    expect(b.isHeld()).toBe(true);
    expect(events).toEqual(['a gained', 'a lost', 'b gained']);
  });

  it('elects another leader after the lease has expired, and never two at a time', async () => {
    const { clock, events, stand, cuttable } = setUp();
    const { state, client } = cuttable();
    const a = stand('a', client);
    await settle();
    const b = stand('b');
    await clock.advance(10_000);
    state.cut = true;
    let gap = 0;
    while (!b.isHeld()) {
      await clock.advance(250);
      expect(a.isHeld() && b.isHeld()).toBe(false);
      if (!a.isHeld()) gap++;
      expect(gap).toBeLessThan(100);
    }
    expect(gap).toBeGreaterThan(0);
    expect(events).toEqual(['a gained', 'a lost', 'b gained']);
  });

  it('ends for a leader whose lease was taken by another holder', async () => {
    const { clock, api, events, stand } = setUp();
    const a = stand('a');
    await settle();
    const lease = api.get(LEASES, LEASE_NAME, 'kube-system')!;
    await api.request({
      method: 'PUT',
      target: `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${LEASE_NAME}`,
      body: { ...lease, spec: { holderIdentity: 'an operator', leaseDurationSeconds: 15 } },
    });
    await clock.advance(4_000);
    expect(a.isHeld()).toBe(false);
    expect(events).toEqual(['a gained', 'a lost']);
  });

  it('ignores renewTime of other clocks, and takes a lease only after it was unchanged for its duration', async () => {
    const { clock, api, stand } = setUp();
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' };
    api.put(LEASES, { name: LEASE_NAME, namespace: 'kube-system' }, { spec });
    const a = stand('a');
    await clock.advance(14_000);
    expect(a.isHeld()).toBe(false);
    await clock.advance(5_000);
    expect(a.isHeld()).toBe(true);
  });

  it('keeps the leader through a short series of 503s, and ends it after a long one', async () => {
    const { clock, api, stand } = setUp();
    const a = stand('a');
    await settle();
    api.intercept = () => status(503, 'ServiceUnavailable');
    await clock.advance(8_000);
    expect(a.isHeld()).toBe(true);
    await clock.advance(3_000);
    expect(a.isHeld()).toBe(false);
    api.intercept = () => undefined;
    await clock.advance(4_000);
    expect(a.isHeld()).toBe(true);
  });

  it('has a fenced client that refuses writes, not reads, without the lease', async () => {
    const { api } = setUp();
    let held = true;
    const client = fenced(api, () => held);
    api.put(LEASES, { name: 'x', namespace: 'kube-system' });
    const target = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x';
    held = false;
    await expect(client.request({ method: 'DELETE', target })).rejects.toBeInstanceOf(LeadershipLost);
    expect((await client.request({ method: 'GET', target })).status).toBe(200);
    held = true;
    expect((await client.request({ method: 'DELETE', target })).status).toBe(200);
  });
});
