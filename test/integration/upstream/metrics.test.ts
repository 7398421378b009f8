import { afterEach, describe, expect, it } from 'vitest';
import { AGGREGATED, NOPEER } from '../control-plane.js';
import { HOSTS } from './mixed-plane.js';
import { ALL, ServerWithPeers } from './server-with-peers.js';

/** The case of metrics_test.go that is about peers. */

const HITS = 'aggregator_discovery_peer_aggregated_cache_hits_total';
const MISSES = 'aggregator_discovery_peer_aggregated_cache_misses_total';
const NOPEER_REQUESTS = 'aggregator_discovery_nopeer_requests_total';

describe.each(HOSTS)('metrics_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  afterEach(() => server.close());

  it('TestPeerAggregatedDiscoveryMetrics', async () => {
    server = new ServerWithPeers(host);
    await server.start({ 'local.example.com/v1/local-resources': ALL });
    const peer = await server.peer('peer-server-1', { 'peer.example.com/v2/peer-resources': ALL });
    await server.discovery();
    const counts = () => Promise.all([HITS, MISSES, NOPEER_REQUESTS].map((name) => server.metric(name)));
    const before = await counts();
    const since = async () => (await counts()).map((count, i) => count - before[i]!);

    for (const accept of ['application/json', `${AGGREGATED};profile=foo`, AGGREGATED]) await server.discovery(accept);
    for (let i = 0; i < 2; i++) await server.discovery(NOPEER);
    expect(await since()).toEqual([3, 0, 2]);

    peer.served = { 'peer.example.com/v2/others': ALL };
    await server.merged((groups) => groups.some(({ versions }) => versions[0]!.resources[0]!.resource === 'others'));
    expect((await since())[1], 'one document for one change').toBe(1);
  });
});
