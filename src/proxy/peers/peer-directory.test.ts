import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { DepartedMemory } from './departed-memory.js';
import { PlayedServer } from './fake-server.fixture.js';
import { createPeerDirectory, type RunningPeerDirectory } from './peer-directory.js';
import type { PeerSource } from './peer-source.js';
import type { ForgetMark, Sighting } from './sightings.js';

class PlayedSource implements PeerSource {
  readonly name = 'played';
  seen: Sighting[] = [];
  marks: ForgetMark[] = [];
  #onChange = () => {};
  start(onChange: () => void): void {
    this.#onChange = onChange;
  }
  sightings = () => this.seen;
  forgetMarks = () => this.marks;
  answered = () => true;
  close = async () => {};
  async see(...seen: Sighting[]): Promise<void> {
    this.seen = seen;
    this.#onChange();
    await settle();
  }
  changed(): void {
    this.#onChange();
  }
}

const B = '10.0.0.2:6443';
const B_STRADDLE = '10.0.0.2:7443';
const C = '10.0.0.3:6443';
const lease = (hostname: string, address: string, more: Partial<Sighting> = {}): Sighting => ({
  source: 'lease',
  kind: 'kube-apiserver',
  hostname,
  address,
  ...more,
});
const asks = (method: string, target: string) => parseRequestInfo(method, target)!;
const ONLY = asks('GET', '/apis/only/v1/bs/x');
const RESIZE = asks('PATCH', '/api/v1/namespaces/n/pods/p/resize');
const COMMON = { '/v1/pods': 'get list', '/v1/pods/resize': 'patch', 'apps/v1/deployments': 'get' };

let clock: ManualClock;
let source: PlayedSource;
let servers: Map<string, PlayedServer>;
let memory: DepartedMemory;
let directory: RunningPeerDirectory;

beforeEach(async () => {
  clock = new ManualClock();
  source = new PlayedSource();
  servers = new Map([
    [B, new PlayedServer({ ...COMMON, 'only/v1/bs': 'get list' })],
    [C, new PlayedServer(COMMON)],
  ]);
  memory = await DepartedMemory.open({ clock, logger: silentLogger, graceMs: 60_000 });
  directory = createPeerDirectory({
    sources: [source],
    makeDestination: ({ address }) => servers.get(address)!.destination(address),
    makeFetch: (destination) => servers.get(destination.address)!.fetch,
    clock,
    logger: silentLogger,
    selves: { names: ['a'], addresses: ['10.0.0.1:7443'] },
    memory,
    random: () => 0.5,
  });
  directory.start();
});
afterEach(() => directory.close());

const capable = (info = ONLY) =>
  directory
    .snapshot()
    .capable(info)
    .map((peer) => peer.identity);
const unread = () => directory.snapshot().unread.map((peer) => peer.identity);
const departed = () => directory.snapshot().departed.map((server) => server.identity);

describe('PeerDirectory', () => {
  it('lists a new peer as unread, then as capable of its resources, down to verb and subresource', async () => {
    servers.get(B)!.mode = 'starting';
    await source.see(lease('b', B), lease('c', C));
    expect(unread()).toEqual(['b']);
    servers.get(B)!.mode = 'up';
    await clock.advance(1_000);
    expect(unread()).toEqual([]);
    expect(capable()).toEqual(['b']);
    expect(capable(RESIZE)).toEqual(['b', 'c']);
    expect(capable(asks('DELETE', '/apis/only/v1/bs/x'))).toEqual([]);
    expect(directory.synced()).toBe(true);
    expect(directory.snapshot().peers.every((peer) => peer.endpoints.every((e) => e.usable()))).toBe(true);
  });

  it('reads the version of a server anew that left and is back at its address with the same APIs', async () => {
    await source.see(lease('b', B));
    expect(directory.describe().peers[0]!.kubernetesVersion).toBe('v1.36.4');
    await source.see();
    servers.get(B)!.version = 'v1.37.1';
    await source.see(lease('b', B));
    await clock.advance(1_000);
    expect(directory.describe().peers[0]!.kubernetesVersion).toBe('v1.37.1');
  });

  it('describes when the newest lease of a peer was renewed', async () => {
    const atMs = clock.nowMs();
    servers.set(B_STRADDLE, servers.get(B)!);
    await source.see(
      lease('b', B, { renewedAtMs: atMs - 5_000 }),
      lease('b', B_STRADDLE, { kind: 'straddle', upstreamAddress: B, renewedAtMs: atMs - 1_000 }),
      lease('c', C),
    );
    expect(directory.describe().peers.map(({ leaseRenewedAtMs }) => leaseRenewedAtMs)).toEqual([
      atMs - 1_000,
      undefined,
    ]);
  });

  it('keeps a failed peer capable but unusable until a probe succeeds', async () => {
    await source.see(lease('b', B));
    const [endpoint] = directory.snapshot().peers[0]!.endpoints;
    servers.get(B)!.mode = 'refusing';
    endpoint!.report('failed', 'connection reset');
    expect(endpoint!.usable()).toBe(false);
    await clock.advance(3_000);
    expect(endpoint!.usable()).toBe(false);
    expect(capable()).toEqual(['b']);
    servers.get(B)!.mode = 'up';
    await clock.advance(4_000);
    expect(endpoint!.usable()).toBe(true);
  });

  it('detects a peer that hangs, and fails the requests that wait for it', async () => {
    await source.see(lease('b', B), lease('c', C));
    servers.get(B)!.mode = 'hanging';
    await clock.advance(7_000);
    expect(servers.get(B)!.abandoned).toBeGreaterThan(0);
    expect(
      directory
        .snapshot()
        .peers.find((p) => p.identity === 'c')!
        .endpoints[0]!.usable(),
    ).toBe(true);
    const c = directory.describe().peers.find((peer) => peer.identity === 'c')!;
    expect(c.surfaceAgeMs).toBeLessThan(2_500);
    expect(departed()).toEqual(['b']);
  });

  it('departs an unreachable peer although its lease is live, and restores it with the first probe', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.mode = 'refusing';
    await clock.advance(8_500);
    expect(capable()).toEqual([]);
    expect(departed()).toEqual(['b']);
    expect(directory.snapshot().departedWith(ONLY)?.identity).toBe('b');
    servers.get(B)!.mode = 'starting';
    await clock.advance(5_000);
    expect(departed()).toEqual(['b']);
    servers.get(B)!.mode = 'up';
    await clock.advance(5_000);
    expect(departed()).toEqual([]);
    expect(capable()).toEqual(['b']);
  });

  it('departs a peer at once when its lease is deleted, and keeps its surface for the grace period', async () => {
    await source.see(lease('b', B));
    await source.see();
    expect(directory.snapshot().peers).toEqual([]);
    expect(directory.snapshot().departedWith(ONLY)?.identity).toBe('b');
    await clock.advance(60_000);
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
  });

  it('does not keep a resource that a live peer stopped serving', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.groups = COMMON;
    await clock.advance(2_500);
    expect(capable()).toEqual([]);
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
    await source.see();
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
    expect(departed()).toEqual(['b']);
  });

  it('keeps the surface of a peer that restarted between two reads until it is ready', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.mode = 'starting';
    await clock.advance(2_500);
    expect(capable()).toEqual(['b']);
    expect(directory.snapshot().peers[0]!.endpoints[0]!.usable()).toBe(false);
  });

  it('removes a peer that was never reached from unread after a while, until it answers', async () => {
    servers.get(B)!.mode = 'refusing';
    await source.see(lease('b', B));
    await clock.advance(29_000);
    expect(unread()).toEqual(['b']);
    expect(directory.synced()).toBe(true);
    await clock.advance(2_000);
    expect(unread()).toEqual([]);
    servers.get(B)!.mode = 'up';
    await clock.advance(5_000);
    expect(capable()).toEqual(['b']);
  });

  it('keeps a ready peer with malformed discovery unread', async () => {
    servers.get(B)!.mode = 'malformed';
    await source.see(lease('b', B));
    await clock.advance(100_000);
    expect(unread()).toEqual(['b']);
    expect(directory.describe().peers[0]!.endpoints[0]!.lastError).toMatch(/apiVersion|items/);
  });

  it('deletes a departed peer when an operator forgets it', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.mode = 'refusing';
    await clock.advance(10_000);
    expect(departed()).toEqual(['b']);
    source.marks = [{ identity: 'b', atMs: clock.nowMs() }];
    source.changed();
    await settle();
    expect(departed()).toEqual([]);
    expect(directory.snapshot().peers).toEqual([]);
  });

  it('keeps surface and health of a peer whose host name becomes known', async () => {
    await source.see({ source: 'endpoints', kind: 'kube-apiserver', address: B });
    expect(capable()).toEqual([B]);
    await source.see({ source: 'endpoints', kind: 'kube-apiserver', address: B }, lease('b', B));
    expect(capable()).toEqual(['b']);
    expect(departed()).toEqual([]);
    expect(directory.snapshot().peers[0]!.endpoints[0]!.usable()).toBe(true);
  });

  it('uses the Straddle of a peer when the address of its kube-apiserver fails', async () => {
    servers.set(B_STRADDLE, new PlayedServer(servers.get(B)!.groups));
    servers.get(B_STRADDLE)!.isStraddle = true;
    await source.see(lease('b', B_STRADDLE, { kind: 'straddle', upstreamAddress: B }));
    servers.get(B)!.mode = 'refusing';
    await clock.advance(20_000);
    const [peer] = directory.snapshot().peers;
    expect(peer!.endpoints.map((e) => [e.kind, e.usable()])).toEqual([
      ['kube-apiserver', false],
      ['straddle', true],
    ]);
    expect(capable()).toEqual(['b']);
    expect(directory.describe().peers[0]!.surfaceAgeMs).toBeLessThan(3_000);
  });

  describe('whose API server listens on loopback behind its Straddle', () => {
    const behind = () => lease('b', B_STRADDLE, { kind: 'straddle', upstreamAddress: B, isBehindStraddle: true });
    const usable = () => directory.snapshot().peers[0]!.endpoints.map((e) => [e.destination.address, e.usable()]);

    beforeEach(() => {
      servers.set(B_STRADDLE, new PlayedServer(servers.get(B)!.groups));
      servers.get(B_STRADDLE)!.isStraddle = true;
      servers.get(B)!.mode = 'refusing';
    });

    it('reaches the Straddle at once and never dials the address at which nobody listens', async () => {
      await source.see(behind(), lease('b', B), { source: 'endpoints', kind: 'kube-apiserver', address: B });
      expect(capable()).toEqual(['b']);
      expect(directory.synced()).toBe(true);
      await clock.advance(60_000);
      expect(usable()).toEqual([
        [B_STRADDLE, true],
        [B, false],
      ]);
      expect(servers.get(B)!.requests).toEqual([]);
    });

    it('departs the server when only its Straddle is still there, and restores it', async () => {
      await source.see(behind(), lease('b', B));
      servers.get(B_STRADDLE)!.mode = 'without-its-server';
      await clock.advance(10_000);
      expect(departed()).toEqual(['b']);
      expect(capable()).toEqual([]);
      servers.get(B_STRADDLE)!.mode = 'up';
      await clock.advance(5_000);
      expect(departed()).toEqual([]);
      expect(usable()[0]).toEqual([B_STRADDLE, true]);
    });

    it('dials the address all the same while the Straddle does not answer: a lease may say anything', async () => {
      servers.get(B)!.mode = 'up';
      servers.get(B_STRADDLE)!.mode = 'refusing';
      await source.see(behind(), lease('b', B));
      await clock.advance(200);
      expect(usable()).toEqual([
        [B_STRADDLE, false],
        [B, true],
      ]);
      expect(capable()).toEqual(['b']);
      servers.get(B_STRADDLE)!.mode = 'up';
      await clock.advance(5_000);
      expect(usable()).toEqual([
        [B_STRADDLE, true],
        [B, true],
      ]);
      // Probed as long as it answers, so that its health is known.
      servers.get(B)!.mode = 'refusing';
      await clock.advance(5_000);
      expect(usable()[1]).toEqual([B, false]);
    });

    it('has one address where the Straddle has the one that the API server advertises', async () => {
      servers.get(B)!.mode = 'up';
      servers.get(B)!.isStraddle = true;
      await source.see(lease('b', B), lease('b', B, { kind: 'straddle', upstreamAddress: B }), {
        source: 'endpoints',
        kind: 'kube-apiserver',
        address: B,
      });
      const [peer] = directory.snapshot().peers;
      expect(peer!.endpoints.map((e) => [e.kind, e.destination.address, e.usable()])).toEqual([['straddle', B, true]]);
      servers.get(B)!.mode = 'without-its-server';
      await clock.advance(10_000);
      expect(departed()).toEqual(['b']);
    });
  });

  it('reads a peer again at once on refresh, or when it was restarted', async () => {
    await source.see(lease('b', B, { incarnation: '1' }));
    servers.get(B)!.groups = { ...servers.get(B)!.groups, 'new/v1/ns': 'get' };
    const fresh = asks('GET', '/apis/new/v1/ns/x');
    expect(capable(fresh)).toEqual([]);
    await directory.refresh(directory.snapshot().peers[0]!);
    expect(capable(fresh)).toEqual(['b']);
    const before = servers.get(B)!.requests.length;
    await source.see(lease('b', B, { incarnation: '2' }));
    await clock.advance(0);
    expect(servers.get(B)!.requests.length).toBeGreaterThan(before);
  });
});

describe('PeerTable', () => {
  it('is the same object until a change, after which listeners are called', async () => {
    await source.see(lease('b', B));
    let changes = 0;
    directory.onChange(() => changes++);
    const table = directory.snapshot();
    await clock.advance(10_000);
    expect(directory.snapshot()).toBe(table);
    expect(changes).toBe(0);
    servers.get(B)!.groups = COMMON;
    await clock.advance(2_500);
    expect(directory.snapshot()).not.toBe(table);
    expect(changes).toBe(1);
  });

  it('computes the capable peers once per resource and verb', async () => {
    const groups: Record<string, string> = { 'only/v1/bs': 'get' };
    for (let i = 0; i < 2_000; i++) groups[`g${i % 50}/v1/r${i}`] = 'get list';
    const many = Array.from({ length: 50 }, (_, i) => `10.0.1.${i + 1}:6443`);
    for (const address of many) servers.set(address, new PlayedServer(groups));
    await source.see(...many.map((address, i) => lease(`n${i}`, address)));
    await clock.advance(100);
    const table = directory.snapshot();
    expect(table.capable(ONLY)).toHaveLength(50);
    // The result is cached: the same list for another object of the resource.
    expect(table.capable(asks('GET', '/apis/only/v1/namespaces/y/bs/other'))).toBe(table.capable(ONLY));
  });
});
