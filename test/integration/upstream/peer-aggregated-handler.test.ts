import { afterEach, describe, expect, it } from 'vitest';
import { AGGREGATED, NOPEER } from '../control-plane.js';
import type { Flags } from '../embedded-server.js';
import type { Served } from '../fake-apiserver.js';
import { HOSTS } from './mixed-plane.js';
import { ALL, CREATE_ONLY, groupNames, groupsOfTest, ServerWithPeers } from './server-with-peers.js';

/**
 * The cases of peer_aggregated_handler_test.go. docs/reference/upstream-tests.md has the table. In those of
 * TestMergeResources upstream copies a group's metadata from the first server; Straddle merges names only, so that the
 * document is the same on every server.
 */

const LOCAL = { 'local.example.com/v1/local-resources': ALL };
const PEER = { 'peer.example.com/v2/peer-resources': ALL };
const ANOTHER = { 'peer2.example.com/v1/peer2-resources': ALL };
const GATE_OFF = { 'feature-gates': 'UnknownVersionInteroperabilityProxy=false', 'peer-ca-file': '' };

const G1 = 'g1.example.com';
const G2 = 'g2.example.com';
const G1_R1 = { [`${G1}/v1/r1s`]: ALL };
const G2_R1 = { [`${G2}/v1/r1s`]: ALL };

describe.each(HOSTS)('peer_aggregated_handler_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (serves: Served, peers: Record<string, Served> = {}, flags: Flags = {}) => {
    server = new ServerWithPeers(host);
    await server.start(serves, flags);
    for (const [name, served] of Object.entries(peers)) await server.peer(name, served);
  };
  /** With a lease of a peer that is not looked at. */
  const startWithoutProxy = async (flags: Flags) => {
    await start(LOCAL, {}, flags);
    const peer = await server.unannounced(PEER);
    await server.announce('peer-server-1', peer);
    return peer;
  };
  const shown = async (accept?: string) => groupNames(await server.discovery(accept));
  afterEach(() => server.close());

  it('TestPeerAggregatedDiscovery/Peer aggregated discovery disabled (should get local discovery)', async () => {
    const peer = await startWithoutProxy(GATE_OFF);
    expect(await shown(NOPEER)).toEqual(['local.example.com']);
    expect(await shown()).toEqual(['local.example.com']);
    expect(peer.requests).toEqual([]);
  });

  it('TestPeerAggregatedDiscovery/Request without profile (should default to peer-aggregated)', async () => {
    await start(LOCAL, { 'peer-server-1': PEER });
    expect(await shown(AGGREGATED)).toEqual(['local.example.com', 'peer.example.com']);
  });

  it('TestPeerAggregatedDiscovery/Request with unknown profile (should default to peer-aggregated)', async () => {
    await start(LOCAL, { 'peer-server-1': PEER });
    expect(await shown(`${AGGREGATED};profile=foo`)).toEqual(['local.example.com', 'peer.example.com']);
  });

  it('TestPeerAggregatedDiscovery/Request with profile=nopeer (should get no-peer discovery)', async () => {
    await start(LOCAL, { 'peer-server-1': PEER });
    expect(await shown(NOPEER)).toEqual(['local.example.com']);
  });

  // No provider of peers is, for Straddle, a configuration without --peer-ca-file.
  it('TestPeerAggregatedDiscovery/Peer provider nil (should get local discovery)', async () => {
    const peer = await startWithoutProxy({ 'peer-ca-file': '' });
    expect(await shown()).toEqual(['local.example.com']);
    expect(peer.requests).toEqual([]);
  });

  it('TestPeerAggregatedDiscovery/Multiple peer resources (should return all)', async () => {
    await start(LOCAL, { 'peer-server-1': PEER, 'peer-server-2': ANOTHER });
    expect(await shown()).toEqual(['local.example.com', 'peer.example.com', 'peer2.example.com']);
  });

  // Upstream's test empties the cache itself. Here the change of the peer is all that happens.
  it('TestPeerAggregatedDiscovery_ETagHandling', async () => {
    await start(LOCAL);
    const peer = await server.peer('peer-server-1', PEER);
    const first = (await server.discovery()).headers['etag'];
    expect(first).toMatch(/^"[^"]+"$/);
    expect((await server.discovery()).headers['etag']).toBe(first);
    peer.served = { ...PEER, 'peer.example.com/v2/peer-resources2': ALL };
    await server.merged((groups) => groups.some(({ versions }) => versions[0]!.resources.length === 2));
    const changed = (await server.discovery()).headers['etag'];
    expect(changed).toMatch(/^"[^"]+"$/);
    expect(changed).not.toBe(first);
    expect((await server.discovery(AGGREGATED, { 'If-None-Match': String(first) })).status).toBe(200);
    expect((await server.discovery(AGGREGATED, { 'If-None-Match': String(changed) })).status).toBe(304);
  });

  const hasTagAndGroups = async (...groups: string[]) => {
    const answer = await server.discovery();
    expect(groupNames(answer)).toEqual(groups);
    expect(answer.headers['etag']).toMatch(/^"[^"]+"$/);
  };

  it('TestFetchFromCache/local only - no peer provider', async () => {
    await start(LOCAL);
    await hasTagAndGroups('local.example.com');
  });

  it('TestFetchFromCache/local and peer resources', async () => {
    await start(LOCAL, { 'peer-server-1': PEER, 'peer-server-2': ANOTHER });
    await hasTagAndGroups('local.example.com', 'peer.example.com', 'peer2.example.com');
  });

  it('TestFetchFromCache/no local resources, only peer', async () => {
    await start({}, { 'peer-server-1': PEER });
    await hasTagAndGroups('peer.example.com');
  });
});

describe.each(HOSTS)('mergeResources of peer_aggregated_handler_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (serves: Served, peer?: Served, kubernetesVersion?: string, name = 'local') => {
    server = new ServerWithPeers(host);
    await server.start(serves, { 'server-name': name });
    if (peer) await server.peer('peer', peer, kubernetesVersion);
  };
  /** Each group with its versions and their resources. */
  const merged = async () =>
    Object.fromEntries(
      groupsOfTest(await server.discovery()).map(({ metadata, versions }) => [
        metadata.name,
        Object.fromEntries(
          versions.map(({ version, resources }) => [version, resources.map(({ resource }) => resource)]),
        ),
      ]),
    );
  const order = async () => groupNames(await server.discovery());
  afterEach(() => server.close());

  it('TestMergeResources/no peers, just local resources', async () => {
    await start({ ...G1_R1, ...G2_R1 });
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s'] }, [G2]: { v1: ['r1s'] } });
    const [whole, local] = [await server.discovery(), await server.discovery(NOPEER)];
    expect(whole.raw.equals(local.raw), 'the bytes of the local server').toBe(true);
  });

  // Upstream returns the local list itself. Straddle's document is its own, the same on every server.
  it('TestMergeResources/peer adds no new g/v/r', async () => {
    await start({ ...G1_R1, ...G2_R1 }, { ...G1_R1, ...G2_R1 });
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s'] }, [G2]: { v1: ['r1s'] } });
    expect(await order()).toEqual([G1, G2]);
  });

  it('TestMergeResources/peer adds a new resource to existing g/v', async () => {
    await start(G1_R1, { [`${G1}/v1/r2s`]: ALL });
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s', 'r2s'] } });
  });

  // Upstream's order here is v1, v2, by name: no server has both. Straddle does the same.
  it('TestMergeResources/peer adds a new version to existing group', async () => {
    await start(G1_R1, { [`${G1}/v2/r1s`]: ALL });
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s'], v2: ['r1s'] } });
    const [group] = groupsOfTest(await server.discovery());
    expect(group!.versions.map(({ version }) => version)).toEqual(['v1', 'v2']);
  });

  it('TestMergeResources/peer adds a completely new group', async () => {
    await start(G1_R1, G2_R1);
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s'] }, [G2]: { v1: ['r1s'] } });
  });

  // Upstream sorts groups by name where servers contradict each other. Straddle keeps the order of the newest server.
  it('TestMergeResources/peer has same data but different group order', async () => {
    await start({ ...G1_R1, ...G2_R1 }, { ...G2_R1, ...G1_R1 }, 'v1.30.0');
    expect(await order(), 'the peer is older').toEqual([G1, G2]);
    await server.peer('newest', { ...G2_R1, ...G1_R1 }, 'v1.99.0');
    expect(await order()).toEqual([G2, G1]);
  });

  it("TestMergeResources/deterministic merge (Server A's view)", async () => {
    await start(G1_R1, G2_R1, undefined, 'a');
    expect(await order()).toEqual([G1, G2]);
  });

  it("TestMergeResources/deterministic merge (Server B's view)", async () => {
    await start(G2_R1, G1_R1, undefined, 'z');
    expect(await order()).toEqual([G1, G2]);
  });

  it('TestMergeResources/peer adds a new verb to existing resource (triggers Case 2)', async () => {
    await start({}, { [CREATE_ONLY]: 'watch get create' });
    const [group, version, name] = CREATE_ONLY.split('/');
    const { items } = (await server.discovery()).json<{ items: ReturnType<typeof groupsOfTest> }>();
    const { versions } = items.find(({ metadata }) => metadata.name === group)!;
    const { resources } = versions.find((each) => each.version === version)!;
    expect(resources.find(({ resource }) => resource === name)!.verbs).toEqual(['create', 'get', 'watch']);
  });

  it('TestMergeResources/peer adds a new subresource to existing resource (triggers Case 2)', async () => {
    await start(G1_R1, { ...G1_R1, [`${G1}/v1/r1s/status`]: 'get', [`${G1}/v1/r1s/log`]: 'get' });
    await server.peer('another', { ...G1_R1, [`${G1}/v1/r1s/exec`]: 'create' });
    const [group] = groupsOfTest(await server.discovery());
    const { subresources } = group!.versions[0]!.resources[0]!;
    expect(subresources!.map(({ subresource }) => subresource).sort()).toEqual(['exec', 'log', 'status']);
  });

  it('TestMergeResources/empty local, non-empty peer (triggers Case 3)', async () => {
    await start({}, G1_R1);
    expect(await merged()).toEqual({ [G1]: { v1: ['r1s'] } });
  });
});
