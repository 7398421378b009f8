import { afterEach, describe, expect, it } from 'vitest';
import type { Flags } from '../embedded-server.js';
import { HOSTS } from './mixed-plane.js';
import { ALL, groupNames, ServerWithPeers } from './server-with-peers.js';

/** The cases of peer_discovery_test.go: leases of peers, as the merged discovery shows them. */

const serving = (name: string) => ({ [`${name}.example.com/v1/testresources`]: ALL });
const TEST_GROUP = serving('testgroup');
const RESOURCES = '/apis/testgroup.example.com/v1/testresources';

describe.each(HOSTS)('peer_discovery_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (flags: Flags = {}) => {
    server = new ServerWithPeers(host);
    await server.start({}, flags);
  };
  const shown = async () => groupNames(await server.discovery());
  const syncErrors = (type: string) => server.metric(`apiserver_peer_discovery_sync_errors_total{type="${type}"}`);
  afterEach(() => server.close());

  it('TestRunPeerDiscoveryCacheSync/single remote server', async () => {
    await start();
    await server.peer('remote-1', TEST_GROUP);
    expect(await shown()).toEqual(['testgroup.example.com']);
  });

  it('TestRunPeerDiscoveryCacheSync/multiple remote servers', async () => {
    await start();
    const first = await server.peer('remote-1', TEST_GROUP);
    await server.peer('remote-2', { ...TEST_GROUP, ...serving('second') });
    expect(await shown()).toEqual(['testgroup.example.com', 'second.example.com']);
    await first.stop();
    expect((await server.ask(RESOURCES)).status, 'from the other one').toBe(200);
  });

  it('TestRunPeerDiscoveryCacheSync/lease update', async () => {
    await start({ 'surface-refresh': '20s' });
    const peer = await server.peer('remote-1', TEST_GROUP);
    peer.served = serving('updated');
    await server.changeHolder('remote-1');
    const groups = await server.merged(([group]) => group?.metadata.name === 'updated.example.com');
    expect(groups, 'read at once, not at the next refresh').toHaveLength(1);
    expect((await server.ask(RESOURCES)).status).toBe(404);
  });

  // Upstream forgets what the server has served, so that its resources are 404. Straddle remembers it for a time.
  it('TestRunPeerDiscoveryCacheSync/lease deletion', async () => {
    await start({ 'departed-grace': '4s' });
    await server.peer('remote-1', TEST_GROUP);
    await server.deleteLease('remote-1');
    const [group] = await server.merged(([each]) => each?.versions[0]?.freshness === 'Stale');
    expect(group?.metadata.name).toBe('testgroup.example.com');
    expect((await server.ask(RESOURCES)).status).toBe(503);
    await server.merged(({ length }) => length === 0);
    expect((await server.ask(RESOURCES)).status).toBe(404);
  });

  // Upstream counts an error of type hostport_resolution. Straddle logs the lease, and counts errors of requests only.
  it('TestPeerDiscoveryMetrics/hostport resolution error', async () => {
    await start();
    await server.announce('remote-resolution-error', { port: 70_000 });
    await expect
      .poll(() => server.log.find(({ msg }) => /address in an identity lease/.test(msg)))
      .toMatchObject({
        level: 'warn',
        lease: 'apiserver-remote-resolution-error',
        address: '127.0.0.1:70000',
      });
    expect(await server.metrics()).not.toContain('straddle_peer_usable{');
  });

  // Upstream counts the type fetch_discovery; Straddle has a type for each kind of failure.
  it('TestPeerDiscoveryMetrics/fetch discovery error', async () => {
    await start();
    const peer = await server.unannounced(TEST_GROUP);
    peer.mode = 'failing';
    await server.announce('remote-fetch-error', peer);
    await expect.poll(() => syncErrors('status')).toBeGreaterThan(0);
    peer.mode = 'garbage';
    await expect.poll(() => syncErrors('malformed'), { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await shown()).toEqual([]);
  });
});
