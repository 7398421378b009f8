import { afterEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type Status } from '../conformance/world.js';
import { AGGREGATED, NOPEER } from '../control-plane.js';
import type { Answer } from '../https-client.js';
import { HOSTS } from './mixed-plane.js';
import { ALL, groupNames, requestsAt, ServerWithPeers } from './server-with-peers.js';

/** The cases of peerproxy_handler_test.go. docs/reference/upstream-tests.md has the table. */

const SERVED = { 'foo.example.com/v1/bars': ALL };
const BARS = '/apis/foo.example.com/v1/namespaces/default/bars';
const OF_BARS = 'group="foo.example.com",version="v1",resource="bars"';
/** The request meets the closed port, not a probe. */
const SELDOM_READ = { 'surface-refresh': '20s' };
const HELD_BACK = 'straddle_wrong_404_prevented_total{how="held-back"}';

describe.each(HOSTS)('peerproxy_handler_test.go, %s host:', (host) => {
  let server: ServerWithPeers;
  const start = async (...options: Parameters<ServerWithPeers['start']>) => {
    server = new ServerWithPeers(host);
    await server.start(...options);
  };
  const departed = () => expect.poll(() => server.metric('straddle_departed_servers')).toBe(1);
  afterEach(() => server.close());

  it('TestPeerProxy/allow non resource requests', async () => {
    await start();
    const peer = await server.peer('remote', SERVED);
    expect((await server.ask('/version')).status).toBe(200);
    expect((await server.ask('/foo/bar/baz')).status, 'the local server has no such page').toBe(404);
    expect(requestsAt(peer)).toEqual([]);
  });

  // Upstream serves it locally, which is a 404. Straddle replies 503: the asker had a reason to expect the resource here.
  it('TestPeerProxy/allow if already proxied once', async () => {
    await start();
    const peer = await server.peer('remote', SERVED);
    expect((await server.askAsPeer(CONFIG_MAPS)).status).toBe(200);
    expectUnavailable(await server.askAsPeer(BARS));
    expect(requestsAt(peer), 'one hop, not two').toEqual([]);
    // Upstream believes this header of any client.
    const claimed = await server.ask(BARS, { headers: { 'X-Kubernetes-Peer-Proxied': 'true' } });
    expect(claimed.status).toBe(200);
    expect(requestsAt(peer)).toEqual([`GET ${BARS}`]);
  });

  // Upstream serves everything locally until its caches have synced, so that a resource of a peer is a 404. Straddle
  // replies 503 while it does not know the resources of a peer.
  it('TestPeerProxy/allow if unsynced informers', async () => {
    await start();
    const peer = await server.unannounced(SERVED);
    peer.mode = 'hung';
    await server.announce('remote', peer);
    await expect.poll(() => peer.requests.length).toBeGreaterThan(0);
    expect((await server.ask(CONFIG_MAPS)).status).toBe(200);
    expectUnavailable(await server.ask(BARS));
    peer.mode = 'up';
    await server.knows('remote');
    expect((await server.ask(BARS)).status).toBe(200);
  });

  it('TestPeerProxy/Serve locally if serviceable', async () => {
    await start(SERVED);
    const peer = await server.peer('remote', SERVED);
    expect((await server.ask(BARS)).status).toBe(200);
    expect(requestsAt(peer)).toEqual([]);
  });

  it('TestPeerProxy/200 if no appropriate peers found, serve locally', async () => {
    await start();
    const peer = await server.peer('remote', { 'other.example.com/v1/things': ALL });
    const answer = await server.ask(BARS);
    expect([answer.status, answer.text], 'the reply of the local server').toEqual([404, '404 page not found\n']);
    expect(requestsAt(peer)).toEqual([]);
  });

  // Upstream counts an error of type endpoint_resolution. For Straddle a server without an address has departed.
  it('TestPeerProxy/503 if no endpoint fetched from lease', async () => {
    await start();
    const peer = await server.peer('remote', SERVED);
    expect((await server.ask(BARS)).status).toBe(200);
    await server.loseAddress('remote');
    await departed();
    const before = await server.metric(HELD_BACK);
    expectUnavailable(await server.ask(BARS));
    expect(await server.metric(HELD_BACK)).toBe(before + 1);
    expect(requestsAt(peer), 'only the request before').toHaveLength(1);
  });

  // Upstream counts a rerouted request with code 503. Straddle counts replies of peers there, and this as an error.
  it('TestPeerProxy/503 unreachable peer bind address', async () => {
    await start({}, SELDOM_READ);
    const peer = await server.peer('remote', SERVED);
    await peer.stop();
    const answer = await server.ask(BARS);
    expectUnavailable(answer);
    expect(answer.json<Status>().message).toMatch(/^bars\.v1\.foo\.example\.com .*tried remote: .*connection refused/);
    expect(await server.metrics()).toMatch(
      new RegExp(`apiserver_peer_proxy_errors_total\\{type="\\w+",${OF_BARS}\\} [1-9]`),
    );
    expect(await server.metric(`apiserver_rerouted_request_total{code="503",${OF_BARS}}`)).toBe(0);
  });

  it("TestPeerProxy/503 if one apiserver's endpoint lease wasnt found but another valid (unreachable) apiserver was found", async () => {
    await start();
    await server.peer('remote-1', SERVED);
    const second = await server.peer('remote-2', SERVED);
    await server.loseAddress('remote-1');
    await departed();
    expect((await server.ask(BARS)).status, 'while the other one can be reached').toBe(200);
    await second.stop();
    const answer = await server.ask(BARS);
    expectUnavailable(answer);
    expect(answer.json<Status>().message).toContain('remote-2');
  });

  it('TestGetPeerResources/empty peer cache', async () => {
    await start(SERVED);
    expect(groupNames(await server.discovery())).toEqual(['foo.example.com']);
    expect((await server.discovery()).text).toBe((await server.discovery(NOPEER)).text);
  });

  it('TestGetPeerResources/peer cache with local server, should be skipped', async () => {
    await start(SERVED);
    // The lease of the kube-apiserver of this host: not a peer.
    const own = await server.unannounced({ 'own.example.com/v1/things': ALL });
    await server.announce('local', own);
    await server.peer('remote', { 'apps.example.com/v1/things': ALL });
    const groups = await server.merged(({ length }) => length === 2);
    expect(groups.map(({ metadata }) => metadata.name)).toEqual(['apps.example.com', 'foo.example.com']);
    expect(own.requests).toEqual([]);
  });

  it('TestGetPeerResources/peer cache with multiple peers', async () => {
    await start();
    await server.peer('remote-1', { 'apps.example.com/v1/things': ALL, 'foo.example.com/v1/bars': ALL });
    await server.peer('remote-2', { 'batch.example.com/v1/things': ALL });
    expect(groupNames(await server.discovery(AGGREGATED))).toEqual(
      ['apps', 'batch', 'foo'].map((name) => `${name}.example.com`),
    );
  });
});

function expectUnavailable(answer: Answer): void {
  expect(answer.status, answer.text).toBe(503);
  expect(answer.json()).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable', code: 503 });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
}
