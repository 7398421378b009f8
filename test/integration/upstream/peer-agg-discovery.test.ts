import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, eventually, NOPEER } from '../control-plane.js';
import { definitionOf, versionsOf } from './discovery-groups.js';
import { DEFINITIONS, HOSTS, LEASES, type MixedMember, MixedPlane } from './mixed-plane.js';

/** The tests of peer_agg_discovery_test.go: two servers, each without a group that the other one has. */

describe.each(HOSTS)('peer_agg_discovery_test.go, %s host:', (host) => {
  let plane: MixedPlane;
  let a: MixedMember;
  let b: MixedMember;
  beforeAll(async () => {
    plane = new MixedPlane(host);
    [a, b] = await plane.addTwo();
  });
  afterAll(() => plane.close());

  // The label differs: `straddle`, because these are not kube-apiservers.
  it('TestPeerAggregatedDiscovery/CheckIdentityLeases', async () => {
    const leases = await plane.ask(a, `${LEASES}?labelSelector=apiserver.kubernetes.io/identity%3Dstraddle`);
    expect(leases.json<{ items: unknown[] }>().items).toHaveLength(2);
  });

  it('TestPeerAggregatedDiscovery/NoPeerDiscoveryWorks', async () => {
    const [localA, localB] = [
      versionsOf(await plane.discovery(a, NOPEER)),
      versionsOf(await plane.discovery(b, NOPEER)),
    ];
    expect([localA.includes('apps/v1'), localA.includes('batch/v1')]).toEqual([false, true]);
    expect([localB.includes('apps/v1'), localB.includes('batch/v1')]).toEqual([true, false]);
  });

  // Stricter than upstream: both servers reply with the same bytes, and legacy discovery is merged, too.
  it('TestPeerAggregatedDiscovery/PeerAggregatedDiscoveryEndpoint', async () => {
    const [one, two] = [await plane.discovery(a), await plane.discovery(b)];
    expect(versionsOf(one)).toEqual(expect.arrayContaining(['apps/v1', 'batch/v1']));
    expect(one.text).toBe(two.text);
    expect((await plane.ask(a, '/apis/apps/v1')).json()).toMatchObject({ kind: 'APIResourceList' });
    expect((await plane.ask(b, '/apis/batch/v1')).json()).toMatchObject({ kind: 'APIResourceList' });
  });

  // Upstream keeps CRDs out of peer data by an exclusion list with a grace period. Straddle has no exceptions for CRDs.
  it('TestPeerAggregatedDiscoveryWithCRD', async () => {
    const has = (member: MixedMember, wanted: boolean, accept = AGGREGATED) =>
      eventually(
        `example.com to ${wanted ? 'enter' : 'leave'} the discovery of ${member.name}`,
        () => plane.discovery(member, accept),
        (answer) => answer.status === 200 && versionsOf(answer).includes('example.com/v1') === wanted,
      );
    const made = await plane.ask(a, DEFINITIONS, { method: 'POST', body: definitionOf('example.com', 'foos', 'Foo') });
    expect(made.status, made.text).toBe(201);
    for (const member of [a, b]) await has(member, true);
    expect((await plane.ask(a, `${DEFINITIONS}/foos.example.com`, { method: 'DELETE' })).status).toBe(200);
    for (const member of [a, b]) await has(member, false);
    for (const member of [a, b]) await has(member, false, NOPEER);
  });
});
