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

describe('a peer', () => {
  it('is unread at first, then capable of what it serves, down to verb and subresource', async () => {
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

  it('that fails gets no traffic until a probe answered, and stays capable meanwhile', async () => {
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

  it('that hangs is found out, and whoever waits for it is told', async () => {
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

  it('that is unreachable for long departs although its lease lives, and is back with the first probe', async () => {
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

  it('whose lease is deleted departs at once, and is remembered for the grace period', async () => {
    await source.see(lease('b', B));
    await source.see();
    expect(directory.snapshot().peers).toEqual([]);
    expect(directory.snapshot().departedWith(ONLY)?.identity).toBe('b');
    await clock.advance(60_000);
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
  });

  it('that stopped serving something while alive is not remembered for it', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.groups = COMMON;
    await clock.advance(2_500);
    expect(capable()).toEqual([]);
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
    await source.see();
    expect(directory.snapshot().departedWith(ONLY)).toBeUndefined();
    expect(departed()).toEqual(['b']);
  });

  it('that was restarted between two reads is not believed to have lost anything before it is ready', async () => {
    await source.see(lease('b', B));
    servers.get(B)!.mode = 'starting';
    await clock.advance(2_500);
    expect(capable()).toEqual(['b']);
    expect(directory.snapshot().peers[0]!.endpoints[0]!.usable()).toBe(false);
  });

  it('that was never reached stops standing for the unknown after a while, until it answers', async () => {
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

  it('that is ready but whose discovery is malformed stays unread', async () => {
    servers.get(B)!.mode = 'malformed';
    await source.see(lease('b', B));
    await clock.advance(100_000);
    expect(unread()).toEqual(['b']);
    expect(directory.describe().peers[0]!.endpoints[0]!.lastError).toMatch(/apiVersion|items/);
  });

  it('is dropped from memory when an operator forgets it', async () => {
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

  it('keeps its surface and health when it turns out to have a name', async () => {
    await source.see({ source: 'endpoints', kind: 'kube-apiserver', address: B });
    expect(capable()).toEqual([B]);
    await source.see({ source: 'endpoints', kind: 'kube-apiserver', address: B }, lease('b', B));
    expect(capable()).toEqual(['b']);
    expect(departed()).toEqual([]);
    expect(directory.snapshot().peers[0]!.endpoints[0]!.usable()).toBe(true);
  });

  it('is reached through its Straddle when its own address fails', async () => {
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

  it('is read again at once when its answer was surprising, or when it was started anew', async () => {
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

describe('the table', () => {
  it('is the same object until something changes, and then listeners hear of it', async () => {
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

  it('finds who is capable once for each resource and verb, however many servers there are', async () => {
    const groups: Record<string, string> = { 'only/v1/bs': 'get' };
    for (let i = 0; i < 2_000; i++) groups[`g${i % 50}/v1/r${i}`] = 'get list';
    const many = Array.from({ length: 50 }, (_, i) => `10.0.1.${i + 1}:6443`);
    for (const address of many) servers.set(address, new PlayedServer(groups));
    await source.see(...many.map((address, i) => lease(`n${i}`, address)));
    await clock.advance(100);
    const table = directory.snapshot();
    expect(table.capable(ONLY)).toHaveLength(50);
    // The answer is kept: the same list for whoever asks for the same, whatever the object.
    expect(table.capable(asks('GET', '/apis/only/v1/namespaces/y/bs/other'))).toBe(table.capable(ONLY));
  });
});
