import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { CONFLICT_LINES_MAX } from './conflict-log.js';
import { DepartedMemory } from './departed-memory.js';
import { PlayedServer } from './fake-server.fixture.js';
import { NEWCOMER_BOUNDS } from './newcomer-grace.js';
import { createPeerDirectory, type RunningPeerDirectory } from './peer-directory.js';
import type { PeerSource } from './peer-source.js';
import { ENDPOINTS_PER_SERVER_MAX, SERVERS_MAX, type Sighting } from './sightings.js';

const B = '10.0.0.2:6443';
const C = '10.0.0.3:6443';
const lease = (hostname: string, address: string, more: Partial<Sighting> = {}): Sighting => ({
  source: 'lease',
  kind: 'kube-apiserver',
  hostname,
  address,
  ...more,
});
const straddle = (hostname: string, address: string, upstreamAddress: string): Sighting =>
  lease(hostname, address, { kind: 'straddle', upstreamAddress });
/** Address at which no server listens. */
const dead = (number: number): string => `10.9.${number >> 8}.${number & 255}:6443`;
const ONLY_B = parseRequestInfo('GET', '/apis/only-b/v1/bs/x')!;
const ONLY_C = parseRequestInfo('GET', '/apis/only-c/v1/cs/x')!;

let clock: ManualClock;
let servers: Map<string, PlayedServer>;
let memory: DepartedMemory;
let directory: RunningPeerDirectory;
let logged: { message: string; fields: LogFields }[];
let seen: Sighting[];
let changed: () => void;

async function open(): Promise<void> {
  const source: PeerSource = {
    name: 'played',
    start: (onChange) => {
      changed = onChange;
    },
    sightings: () => seen,
    answered: () => true,
    close: async () => {},
  };
  const nobody = new PlayedServer({});
  nobody.mode = 'refusing';
  const serverAt = (address: string): PlayedServer => servers.get(address) ?? nobody;
  directory = createPeerDirectory({
    sources: [source],
    makeDestination: ({ address }) => serverAt(address).destination(address),
    makeFetch: (destination) => serverAt(destination.address).fetch,
    clock,
    logger: recordingLogger(),
    selves: { names: ['a'], addresses: ['10.0.0.1:7443'] },
    memory,
    random: () => 0.5,
  });
  directory.start();
}

function recordingLogger(): Logger {
  const log = (message: string, fields: LogFields = {}) => void logged.push({ message, fields });
  const logger: Logger = { debug: log, info: log, warn: log, error: log, with: () => logger };
  return logger;
}

async function see(...sightings: Sighting[]): Promise<void> {
  seen = sightings;
  changed();
  await settle();
}

beforeEach(async () => {
  clock = new ManualClock();
  logged = [];
  seen = [];
  servers = new Map([
    [B, new PlayedServer({ 'only-b/v1/bs': 'get' })],
    [C, new PlayedServer({ 'only-c/v1/cs': 'get' })],
  ]);
  memory = await DepartedMemory.open({ clock, logger: recordingLogger(), graceMs: 600_000 });
  await open();
});
afterEach(() => directory.close());

const addressesFor = (info: typeof ONLY_B) =>
  directory
    .snapshot()
    .capable(info)
    .map(({ endpoints }) => endpoints.filter((e) => e.usable()).map((e) => e.destination.address));
const unreadCount = () => directory.snapshot().unread.length;
const REAL = [lease('b', B), lease('c', C)];

describe('PeerDirectory with a forged lease', () => {
  it.each([
    ['the address of a live server under another name', [lease('evil', B)]],
    ['the address of a live server as a Straddle', [lease('evil', B, { kind: 'straddle' })]],
    ['the address of a live server as what is behind a Straddle', [straddle('evil', dead(1), B)]],
    ['the addresses of two live servers as one', [straddle('evil', B, C)]],
    ['the addresses of two live servers by two leases', [straddle('evil', dead(1), B), straddle('evil', dead(2), C)]],
    ['the addresses of two live servers without a host name', [{ ...straddle('', B, C), hostname: undefined! }]],
    ["a live server's address under another live server's name", [lease('c', B), lease('b', C)]],
    ['the address of a live server under the name of this one', [straddle('a', B, C)]],
    ['a time of renewal in the future', [lease('evil', B, { renewedAtMs: 4e12 })]],
  ])('keeps a live server reachable when the lease claims %s', async (_, foreign) => {
    await see(...REAL);
    await see(...REAL, ...foreign);
    await clock.advance(20_000);
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
    expect(addressesFor(ONLY_C)).toEqual([[C]]);
  });

  it.each([
    ['a Straddle', 'kube-apiserver', { kind: 'straddle' as const }],
    ['a kube-apiserver', 'straddle', {}],
  ])('does not take a server for %s if its reply shows a %s', async (_, kind, claimed) => {
    servers.get(B)!.isStraddle = kind === 'straddle';
    await see(lease('b', B, claimed));
    const [endpoint] = directory.snapshot().peers[0]!.endpoints;
    expect(endpoint!.usable()).toBe(true);
    expect(endpoint!.kind).toBe(kind);
  });

  it('keeps the address of a server that restarts while the lease claims it', async () => {
    const renewed = () => [
      lease('b', B, { renewedAtMs: clock.nowMs() }),
      lease('evil', B, { renewedAtMs: clock.nowMs() }),
    ];
    await see(...REAL);
    await see(...renewed());
    servers.get(B)!.mode = 'refusing';
    await clock.advance(20_000);
    await see(...renewed());
    expect(directory.snapshot().departedWith(ONLY_B)?.identity).toBe('b');
    servers.get(B)!.mode = 'up';
    await clock.advance(10_000);
    expect(directory.snapshot().capable(ONLY_B)[0]?.identity).toBe('b');
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
  });

  it('keeps the address of a server that answered before this process was restarted', async () => {
    await see(...REAL);
    await directory.close();
    await open();
    await see(lease('evil', B), ...REAL);
    await clock.advance(1_000);
    expect(directory.snapshot().capable(ONLY_B)[0]?.identity).toBe('b');
  });

  it('gives the address to the new lease once the former server has departed and its lease ended', async () => {
    await see(...REAL);
    servers.get(B)!.mode = 'refusing';
    await clock.advance(10_000);
    await see(lease('new', B), lease('c', C));
    servers.get(B)!.mode = 'up';
    await clock.advance(10_000);
    expect(directory.snapshot().capable(ONLY_B)[0]?.identity).toBe('new');
  });

  it('logs each conflict once, a bounded number per minute, and describes it', async () => {
    await see(...REAL);
    await see(...REAL, lease('evil', B));
    await see(...REAL, lease('evil', B), lease('worse', B));
    const lines = () => logged.filter(({ message }) => message.includes('claim'));
    expect(lines()).toEqual([
      {
        message: expect.any(String),
        fields: expect.objectContaining({ address: B, holder: 'b', claimedBy: ['evil'] }),
      },
    ]);
    expect(directory.describe().conflicts).toEqual([{ address: B, holder: 'b', refused: ['evil', 'worse'] }]);
    const many = Array.from({ length: 50 }, (_, i) => [lease('x', dead(i)), lease('y', dead(i))]).flat();
    await see(...REAL, ...many);
    expect(lines().length).toBeLessThanOrEqual(CONFLICT_LINES_MAX);
    await see(...REAL);
    expect(directory.describe().conflicts).toEqual([]);
  });
});

describe('PeerDirectory with many forged leases', () => {
  it('keeps a server that has answered, even if the forged names sort before it', async () => {
    await see(...REAL);
    const flood = Array.from({ length: SERVERS_MAX + 50 }, (_, i) => lease(`a-${i}`, dead(i)));
    await see(...flood, ...REAL);
    await clock.advance(20_000);
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
    expect(addressesFor(ONLY_C)).toEqual([[C]]);
    expect(directory.describe()).toMatchObject({ leftOutCount: 52 });
  });

  it('keeps a server that an EndpointSlice names', async () => {
    const flood = Array.from({ length: SERVERS_MAX }, (_, i) => lease(`0-${i}`, dead(i)));
    await see(...flood, { source: 'endpoints', kind: 'kube-apiserver', address: B });
    await clock.advance(1_000);
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
  });

  it('keeps an address at which a server has answered when its name is forged', async () => {
    await see(...REAL);
    const flood = Array.from({ length: ENDPOINTS_PER_SERVER_MAX }, (_, i) => lease('b', `10.0.0.1:${i + 1}`));
    await see(...flood, ...REAL);
    await clock.advance(20_000);
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
  });

  it.each([
    ['new names and addresses', (i: number) => [lease(`new-${i}`, dead(i))]],
    ['new names for one address', (i: number) => [lease(`new-${i}`, dead(0))]],
    ['new addresses for one name', (i: number) => [lease('new', dead(i))]],
    ['two at a time', (i: number) => [lease(`new-${i}`, dead(i)), lease(`more-${i}`, dead(i + 1_000))]],
  ])('turns 404 into 503 for a bounded time when forged leases are replaced for ever by %s', async (_, foreign) => {
    await see(...REAL);
    let heldMs = 0;
    for (let ms = 0; ms < NEWCOMER_BOUNDS.refillMs; ms += 1_000) {
      if (ms % 10_000 === 0) await see(...REAL, ...foreign(ms / 10_000));
      if (unreadCount() > 0) heldMs += 1_000;
      await clock.advance(1_000);
    }
    expect(heldMs).toBeGreaterThan(0);
    expect(heldMs).toBeLessThanOrEqual(2 * NEWCOMER_BOUNDS.holdMsMax);
  });

  it('counts a real new server as soon as it answers, and refunds its time', async () => {
    await see(...REAL);
    for (let i = 0; i < 10; i++) {
      await see(...REAL, lease(`new-${i}`, dead(i)));
      await clock.advance(30_000);
    }
    expect(unreadCount()).toBe(0);
    const fresh = new PlayedServer({ 'only-d/v1/ds': 'get' });
    fresh.mode = 'malformed';
    servers.set('10.0.0.4:6443', fresh);
    await see(...REAL, lease('d', '10.0.0.4:6443'));
    expect(directory.snapshot().unread.map(({ identity }) => identity)).toEqual(['d']);
    fresh.mode = 'up';
    await clock.advance(5_000);
    expect(directory.snapshot().capable(parseRequestInfo('GET', '/apis/only-d/v1/ds/x')!)).toHaveLength(1);
  });
});

describe('PeerDirectory with a renamed server', () => {
  it('keeps the server reachable at its address when the lease of its former name ends', async () => {
    await see(lease('former', B));
    await see(lease('former', B), lease('present', B));
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
    await see(lease('present', B));
    expect(addressesFor(ONLY_B)).toEqual([[B]]);
    expect(directory.snapshot().departed).toEqual([]);
    expect(directory.describe().peers.map(({ identity }) => identity)).toEqual(['present']);
    expect(directory.describe().conflicts).toEqual([]);
  });
});

describe('PeerDirectory with a server whose Straddle has another name', () => {
  it('reports no conflict after a restart of this process', async () => {
    const address = '10.0.0.2:7443';
    servers.set(address, new PlayedServer({ 'only-b/v1/bs': 'get' }));
    servers.get(address)!.isStraddle = true;
    const real = [lease('node-b', B), straddle('straddle-b', address, B)];
    await see(...real);
    await clock.advance(5_000);
    expect(directory.describe().conflicts).toEqual([]);
    await directory.close();
    await open();
    await see(...real);
    await clock.advance(20_000);
    expect(addressesFor(ONLY_B)).toEqual([[B, address]]);
    expect(directory.describe().conflicts).toEqual([]);
  });
});
