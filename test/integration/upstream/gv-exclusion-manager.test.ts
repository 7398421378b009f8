import { afterEach, describe, expect, it } from 'vitest';
import { HOSTS } from './mixed-plane.js';
import { ALL, groupNames, requestsAt, ServerWithPeers } from './server-with-peers.js';

/**
 * The cases of gv_exclusion_manager_test.go that a client can notice. Upstream takes the group-versions of CRDs and
 * aggregated APIs, and for a grace period those that were deleted, out of what it knows of peers. Straddle has no such
 * list: it reads every server every few seconds, and an API of a peer is one that the peer serves.
 */

const CUSTOM = { 'custom.example.com/v1/things': ALL };
const THINGS = '/apis/custom.example.com/v1/things';

describe.each(HOSTS)('gv_exclusion_manager_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (...options: Parameters<ServerWithPeers['start']>) => {
    server = new ServerWithPeers(host);
    await server.start(...options);
  };
  afterEach(() => server.close());

  it('TestFilterPeerDiscoveryCache/empty exclusion no changes', async () => {
    await start();
    await server.peer('peer1', CUSTOM);
    await server.peer('peer2', { 'other.example.com/v1/things': ALL });
    expect(groupNames(await server.discovery())).toEqual(['custom.example.com', 'other.example.com']);
  });

  it('TestFilterPeerDiscoveryCache/filter active GVs', async () => {
    await start(CUSTOM);
    const peer = await server.peer('peer1', CUSTOM);
    expect(groupNames(await server.discovery()), 'once').toEqual(['custom.example.com']);
    expect((await server.ask(THINGS)).status).toBe(200);
    expect(requestsAt(peer), 'what is served here is not asked of a peer').toEqual([]);
  });

  // Upstream hides the API of the peer during the grace period. Straddle asks the peer while it serves the API, and
  // replies 404 as soon as the peer no longer does.
  it('TestFilterPeerDiscoveryCache/filter deleted GVs', async () => {
    await start();
    const peer = await server.peer('peer1', { ...CUSTOM, 'kept.example.com/v1/things': ALL });
    expect((await server.ask(THINGS)).status).toBe(200);
    peer.served = { 'kept.example.com/v1/things': ALL };
    await server.merged(([first]) => first?.metadata.name === 'kept.example.com');
    expect((await server.ask(THINGS)).status).toBe(404);
  });
});
