import { describe, expect, it } from 'vitest';
import { checksState } from './checks-state.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import { type PageFacts, reachState, serverStates } from './page-facts.js';
import { type ReachDocument, reachDocument, readReachDocument } from './reach-document.js';
import { serverFacts } from './server-facts.js';

const DAY_MS = 86_400_000;
const NEW = surfaceOf({ '/v1/pods': 'get' }, 'v1.37.1');

function documentOf(more: Partial<ReachDocument> = {}): ReachDocument {
  return {
    ...{ kind: 'StraddleReach', formatVersion: 1, server: '', straddleVersion: '0.1.0', peering: true },
    ...{
      passthrough: false,
      leaseRenewedAtMs: null,
      certificateExpiresAtMs: null,
      peers: [],
      departed: [],
      draining: false,
    },
    ...more,
  };
}

function facts(
  plane: PlayedPlane,
  documents: Record<string, ReachDocument> = {},
  more: Partial<PageFacts> = {},
): PageFacts {
  return {
    nowMs: plane.nowMs,
    inFlight: new Map([['cp-2', 7]]),
    servers: serverFacts(plane.sources),
    documents: new Map(Object.entries(documents)),
    peeringActive: true,
    passthrough: false,
    synced: true,
    leftOutCount: 0,
    conflictCount: 0,
    certificateExpiresAtMs: plane.nowMs + 90 * DAY_MS,
    frontProxyExpiresAtMs: undefined,
    ownNames: plane.sources.ownNames,
    draining: false,
    missing: { names: [], isCut: false },
    soleAt: new Map(),
    ...more,
  };
}

function played(peer: Partial<PlayedPlane['peers'][number]> = {}): PlayedPlane {
  const plane = new PlayedPlane();
  plane.peers = [{ name: 'cp-2', surface: NEW, usable: true, ...peer }];
  return plane;
}

const lines = (found: PageFacts) =>
  checksState(found).map(({ id, server, verdict }) => `${server ?? '-'} ${id} ${verdict}`);

describe('checks', () => {
  it('has the names of straddle check, and ends with the commands that check more', () => {
    const plane = played({ leaseRenewedAtMs: Date.UTC(2030, 0, 1) - 5_000 });
    expect(lines(facts(plane, { 'cp-2': documentOf({ certificateExpiresAtMs: plane.nowMs + DAY_MS }) }))).toEqual([
      'cp-1 protection ok',
      'cp-1 certificate-expiry ok',
      'cp-1 lease ok',
      'cp-2 protection ok',
      'cp-2 certificate-expiry warn',
      'cp-2 lease ok',
      'cp-1 peer cp-2 ok',
      '- check unknown',
      '- gate unknown',
    ]);
    expect(checksState(facts(plane)).slice(-2)).toMatchObject([
      { remedy: 'straddle check', isCommand: true },
      { remedy: 'straddle gate', isCommand: true },
    ]);
  });

  it.each<[string, PageFacts]>([
    ['cp-1 protection fail', facts(played(), {}, { passthrough: true })],
    ['cp-1 protection fail', facts(played(), {}, { peeringActive: false })],
    ['cp-2 protection unknown', facts(played())],
    ['cp-2 protection fail', facts(played(), { 'cp-2': documentOf({ passthrough: true }) })],
    ['cp-2 lease fail', facts(played({ leaseRenewedAtMs: Date.UTC(2029, 0, 1) }))],
    ['cp-2 certificate-expiry fail', facts(played(), { 'cp-2': documentOf({ certificateExpiresAtMs: 1 }) })],
    ['cp-1 front-proxy fail', facts(played(), {}, { frontProxyExpiresAtMs: 1 })],
    ['cp-1 peer cp-2 fail', facts(played({ usable: false, lastError: 'connection refused' }))],
    ['cp-1 peers warn', facts(played(), {}, { leftOutCount: 3 })],
    ['cp-1 leases warn', facts(played(), {}, { conflictCount: 1 })],
  ])('has %s', (line, found) => {
    expect(lines(found)).toContain(line);
  });
});

describe('servers', () => {
  it('joins what this process knows with what the Straddle of each server says', () => {
    const plane = played({ lastError: 'connection refused', usable: false });
    const document = documentOf({ passthrough: true, leaseRenewedAtMs: 5, certificateExpiresAtMs: 9 });
    expect(serverStates(facts(plane, { 'cp-2': document }))).toMatchObject([
      {
        name: 'cp-1',
        isThis: true,
        version: 'v1.36.4',
        state: 'ready',
        passthrough: false,
        surfaceAtMs: plane.nowMs - 1_000,
      },
      {
        name: 'cp-2',
        version: 'v1.37.1',
        state: 'down',
        detail: 'connection refused',
        passthrough: true,
        leaseRenewedAtMs: 5,
        certificateExpiresAtMs: 9,
        inFlight: 7,
        endpoints: [{ kind: 'straddle', address: 'cp-2:6443', usable: false }],
      },
    ]);
  });

  it('names the version that a server emulates, if it is another one', () => {
    const plane = played();
    const emulated = (emulationMinor: unknown) => {
      const versionDocument = JSON.stringify({ gitVersion: 'v1.36.4', emulationMajor: '1', emulationMinor });
      plane.surface = { ...NEW, kubernetesVersion: 'v1.36.4', versionDocument };
      return serverStates(facts(plane))[0]!.emulatedVersion;
    };
    expect([emulated('35'), emulated('36'), emulated('<b>'), emulated(35)]).toEqual(['1.35', null, null, null]);
  });
});

describe('who reaches whom', () => {
  it('has every pair, null where a server does not report it', () => {
    const plane = played();
    plane.peers.push({ name: 'cp-3', surface: NEW, usable: false });
    const documents = { 'cp-2': documentOf({ peers: [{ name: 'cp-1', reaches: true }] }) };
    expect(reachState(facts(plane, documents)).map(({ from, to, reaches }) => `${from} ${to} ${reaches}`)).toEqual([
      'cp-1 cp-2 true',
      'cp-1 cp-3 false',
      'cp-2 cp-1 true',
      'cp-2 cp-3 null',
      'cp-3 cp-1 null',
      'cp-3 cp-2 null',
    ]);
  });

  it('is what a Straddle says of itself, as another one reads it', () => {
    const about = documentOf({ server: 'cp-1', leaseRenewedAtMs: 5 });
    const { kind: _, formatVersion: __, peers: ___, ...rest } = about;
    const document = reachDocument(serverFacts(played().sources), rest);
    expect(readReachDocument(JSON.stringify(document))).toEqual({
      ...about,
      peers: [{ name: 'cp-2', reaches: true }],
    });
  });

  it('has in its document the servers that went away as not reached, and as remembered', () => {
    const plane = played({ isDeparted: true });
    plane.departed = [{ identity: 'cp-9', departedAtMs: 0, surface: NEW }];
    const { peers, departed } = reachDocument(serverFacts(plane.sources), documentOf());
    expect(peers).toEqual([
      { name: 'cp-2', reaches: false },
      { name: 'cp-9', reaches: false },
    ]);
    expect(departed).toEqual(['cp-9']);
  });

  it('knows this server by its addresses too, and takes the worse of two answers', () => {
    const peers = [
      { name: '10.0.0.1:6443', reaches: true },
      { name: 'cp-1', reaches: false },
    ];
    const from = (some: typeof peers) =>
      reachState(facts(played(), { 'cp-2': documentOf({ peers: some }) })).find((pair) => pair.from === 'cp-2')
        ?.reaches;
    expect([from(peers), from(peers.slice(0, 1)), from([])]).toEqual([false, true, null]);
  });

  it.each([
    ['no JSON', 'x'],
    ['another kind', '{"kind":"Status"}'],
    ['another format', '{"kind":"StraddleReach","formatVersion":2}'],
    ['an array', '[]'],
  ])('reads nothing from %s', (_, text) => {
    expect(readReachDocument(text)).toBeUndefined();
  });

  it('takes only what has the right type and size from the document of a peer', () => {
    const hostile = {
      ...{ kind: 'StraddleReach', formatVersion: 1, server: 7, straddleVersion: '<script>', peering: 'yes' },
      ...{ passthrough: 1, leaseRenewedAtMs: '5', certificateExpiresAtMs: 1e300, __proto__: { x: 1 } },
      peers: [
        null,
        'x',
        { name: 'x'.repeat(300) },
        { name: 'a', reaches: 'true' },
        ...Array(1_000).fill({ name: 'b' }),
      ],
    };
    const read = readReachDocument(JSON.stringify(hostile))!;
    expect({ ...read, peers: [] }).toEqual({
      ...documentOf({ straddleVersion: '', peering: false }),
    });
    expect(read.peers.length).toBeLessThanOrEqual(256);
    expect(read.peers[0]).toEqual({ name: 'a', reaches: false });
  });
});
