import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import { NO_COUNTS } from './flow-seconds.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import type { PageFacts } from './page-facts.js';
import { isProtected } from './page-facts.js';
import type { ReachDocument } from './reach-document.js';
import { serverFacts } from './server-facts.js';
import { skewColumns, skewRows, skewState } from './skew-state.js';
import { soleResources } from './sole-resources.js';
import { verdictState } from './verdict-state.js';

const OLD = surfaceOf({ '/v1/pods': 'get' }, 'v1.36.4');
const NEW = surfaceOf({ '/v1/pods': 'get' }, 'v1.37.1');
const WITH_WIDGETS = surfaceOf({ '/v1/pods': 'get', 'x/v1/widgets': 'get', 'x/v1/widgets/status': 'get' }, 'v1.37.1');

const ALL = ['cp-1', 'cp-2', 'cp-3'].map((name) => ({ name, reaches: true }));

function documentOf(more: Partial<ReachDocument> = {}): ReachDocument {
  return {
    ...{ kind: 'StraddleReach', formatVersion: 1, server: '', straddleVersion: '0.1.0', peering: true },
    ...{
      passthrough: false,
      leaseRenewedAtMs: null,
      certificateExpiresAtMs: null,
      peers: ALL,
      departed: [],
      draining: false,
    },
    ...more,
  };
}

function plane(): PlayedPlane {
  const played = new PlayedPlane();
  played.surface = OLD;
  played.peers = ['cp-2', 'cp-3'].map((name) => ({ name, surface: NEW, usable: true }));
  return played;
}

function factsOf(
  played: PlayedPlane,
  documents: Record<string, ReachDocument> = { 'cp-2': documentOf(), 'cp-3': documentOf() },
  more: Partial<PageFacts> = {},
): PageFacts {
  return {
    nowMs: played.nowMs,
    inFlight: new Map(),
    servers: serverFacts(played.sources),
    documents: new Map(Object.entries(documents)),
    peeringActive: played.peeringActive,
    passthrough: played.passthrough.on,
    synced: played.synced,
    leftOutCount: played.leftOutCount,
    conflictCount: played.conflicts.length,
    certificateExpiresAtMs: undefined,
    frontProxyExpiresAtMs: played.frontProxyExpiresAtMs,
    ownNames: played.sources.ownNames,
    draining: played.draining,
    missing: { names: [], isCut: false },
    soleAt: runAtOnce(soleResources(serverFacts(played.sources))),
    ...more,
  };
}

function verdictOf(played: PlayedPlane, documents?: Record<string, ReachDocument>, more?: Partial<PageFacts>) {
  const facts = factsOf(played, documents, more);
  const columns = skewColumns(facts.servers, (server) => isProtected(server, facts));
  const verdict = verdictState(facts, skewState(runAtOnce(skewRows(facts.servers)), columns, new Map()), {
    ...NO_COUNTS,
    prevented404: 17,
  });
  return { ...verdict, ids: verdict.reasons.map(({ id }) => id) };
}

describe('verdict', () => {
  it('says yes while nothing speaks against it, and names the command that asks every server', () => {
    const { may, sentence, reasons } = verdictOf(plane());
    expect(may).toBe('yes');
    expect(sentence).toBe(
      '2 of 3 servers on 1.37, all protected, 17 wrong 404s prevented here; the next server may be replaced',
    );
    expect(reasons).toMatchObject([{ id: 'gate', remedy: 'straddle gate', isCommand: true }]);
  });

  it('says no while one server alone serves something, and which server may be next', () => {
    const played = plane();
    played.peers[1]!.surface = WITH_WIDGETS;
    const { may, sentence, reasons } = verdictOf(played);
    expect(may).toBe('no');
    expect(sentence).toBe(
      '2 of 3 servers on 1.37, all protected, 17 wrong 404s prevented here; not now: only cp-3 serves widgets.v1.x',
    );
    expect(reasons[0]).toEqual({
      id: 'sole-server',
      text: 'only cp-3 serves widgets.v1.x',
      remedy: 'straddle gate --server=cp-1',
      isCommand: true,
    });
  });

  it('does not know where a Straddle did not answer', () => {
    const { may, sentence, ids } = verdictOf(plane(), { 'cp-2': documentOf() });
    expect([may, ids]).toEqual(['unknown', ['unprotected', 'gate']]);
    expect(sentence).toContain('2 of 3 known to be protected');
    expect(sentence).toContain('; not known: whether cp-3 is protected');
    expect(sentence).not.toContain('not known here');
  });

  const down = { name: 'cp-2', surface: NEW, usable: false };
  const GONE = [{ identity: 'cp-9', departedAtMs: 0, surface: surfaceOf({ 'y/v1/z': 'get' }) }];
  const EXPIRES_SOON = { frontProxyExpiresAtMs: Date.UTC(2030, 0, 1, 1) };

  it.each<[string, string, Partial<PlayedPlane>]>([
    ['the local API server takes no requests', 'not-ready', { ready: false }],
    ['a peer does not answer', 'unreachable', { peers: [down] }],
    ['a peer was never read', 'rollout', { peers: [{ ...down, surface: undefined }] }],
    ['passthrough is on', 'passthrough', { passthrough: { on: true, sinceMs: 0, reason: '' } }],
    ['the proxy is not configured', 'unprotected', { peeringActive: false }],
    ['no other server answers', 'sole-server', { peers: [] }],
    ['a departed server is remembered', 'stale-surface', { departed: GONE }],
    ['the front-proxy certificate expires soon', 'certificates', EXPIRES_SOON],
    ['a departed peer is forgotten before it is back', 'unreachable', { peers: [{ ...down, isDeparted: true }] }],
    ['its own Straddle shuts down', 'not-ready', { draining: true }],
    ['a lease is not renewed', 'rollout', { peers: [{ ...down, usable: true, leaseRenewedAtMs: 1 }] }],
  ])('says no while %s', (_, id, change) => {
    const { may, ids } = verdictOf(Object.assign(plane(), change));
    expect(may).toBe('no');
    expect(ids).toContain(id);
  });

  it.each<[string, string, Partial<ReachDocument>]>([
    ['passthrough is on at a peer', 'passthrough', { passthrough: true }],
    ['a peer runs without the proxy', 'unprotected', { peering: false }],
    ['its certificate has expired', 'certificates', { certificateExpiresAtMs: 1 }],
    ['its Straddle shuts down', 'not-ready', { draining: true }],
    ['it remembers a server that is not known here', 'stale-surface', { departed: ['cp-9'] }],
    ['two peers do not reach each other', 'peers', { peers: [{ name: 'CP-3', reaches: false }] }],
  ])('says no while %s, as that peer reports', (_, id, reported) => {
    const { may, ids } = verdictOf(plane(), { 'cp-2': documentOf(reported), 'cp-3': documentOf() });
    expect(may).toBe('no');
    expect(ids).toContain(id);
  });

  it('says what is answered 503 for a departed server, and to wait before it is forgotten', () => {
    const played = plane();
    played.departed = [{ identity: 'cp-9', departedAtMs: 0, surface: surfaceOf({ 'y/v1/zs': 'get' }) }];
    expect(verdictOf(played).reasons.find(({ id }) => id === 'stale-surface')).toEqual({
      id: 'stale-surface',
      text: 'cp-9 went away and is remembered: zs.v1.y is answered 503',
      remedy: 'Wait until cp-9 is back; what will never come back: `straddle forget cp-9`.',
      isCommand: false,
    });
  });

  it('does not put a name that a shell would read otherwise into a command', () => {
    const played = plane();
    played.departed = [{ identity: '$(reboot)', departedAtMs: 0, surface: surfaceOf({ 'y/v1/zs': 'get' }) }];
    const reason = verdictOf(played).reasons.find(({ id }) => id === 'stale-surface')!;
    expect([reason.isCommand, reason.remedy?.includes('reboot')]).toEqual([false, false]);
  });

  it('says nothing of a certificate that lasts, and waits for the sources of servers', () => {
    const played = plane();
    played.frontProxyExpiresAtMs = played.nowMs + 86_400_000;
    expect(verdictOf(played).may).toBe('yes');
    played.synced = false;
    expect(verdictOf(played)).toMatchObject({ may: 'unknown', ids: ['rollout', 'gate'] });
  });

  it.each<[string, string, Partial<PlayedPlane>]>([
    ['servers are left out because of the bound', 'servers', { leftOutCount: 1 }],
    ['hosts claim the same address', 'servers', { conflicts: [{}] as unknown as PlayedPlane['conflicts'] }],
    ['the own discovery was not confirmed for a minute', 'discovery', { confirmedMsAgo: 61_000 }],
    ['it was confirmed in the future', 'discovery', { confirmedMsAgo: -61_000 }],
  ])('does not know while %s', (_, id, change) => {
    expect(verdictOf(Object.assign(plane(), change))).toMatchObject({ may: 'unknown', ids: [id, 'gate'] });
  });

  it('does not know while the discovery of a peer was not confirmed for a minute', () => {
    const played = plane();
    played.peers[0]!.surfaceAgeMs = 61_000;
    expect(verdictOf(played)).toMatchObject({ may: 'unknown', ids: ['discovery', 'gate'] });
  });

  it('does not know while a peer says nothing of another one', () => {
    const silent = documentOf({ peers: ALL.slice(0, 2) });
    const { may, reasons } = verdictOf(plane(), { 'cp-2': silent, 'cp-3': documentOf() });
    expect([may, reasons[0]]).toMatchObject(['unknown', { id: 'peers' }]);
    expect(reasons[0]!.text).toContain('whether cp-2 reaches cp-3 is not known');
  });

  it('does not know while a server that was ready before is named by no source', () => {
    for (const missing of [
      { names: ['cp-4'], isCut: false },
      { names: [], isCut: true },
    ])
      expect(verdictOf(plane(), undefined, { missing })).toMatchObject({ may: 'unknown', ids: ['servers', 'gate'] });
  });

  it('says no for a serving certificate of its own that has expired', () => {
    const { may, ids } = verdictOf(plane(), undefined, { certificateExpiresAtMs: 1 });
    expect([may, ids]).toEqual(['no', ['certificates', 'gate']]);
  });

  it('says no while one server alone serves a verb of something', () => {
    const played = plane();
    played.peers[1]!.surface = surfaceOf({ '/v1/pods': 'get deletecollection' }, 'v1.37.1');
    expect(verdictOf(played).reasons[0]!.text).toBe('only cp-3 serves pods.v1 (deletecollection)');
  });

  it('sees what one server alone serves beyond the rows that are shown', () => {
    const played = plane();
    played.peers[1]!.surface = WITH_WIDGETS;
    const facts = factsOf(played);
    const none = { servers: [], rows: [], alike: 0, left: 2 };
    expect(verdictState(facts, none, NO_COUNTS).may).toBe('no');
  });

  it('has the reason that closes among those that are sent, however many are unknown', () => {
    const played = plane();
    const many = Array.from({ length: 60 }, (_, i) => ({ name: `p${i}`, surface: NEW, usable: true }));
    played.peers = [...many, ...played.peers];
    played.frontProxyExpiresAtMs = played.nowMs;
    expect(verdictOf(played, {})).toMatchObject({ may: 'no' });
    expect(verdictOf(played, {}).ids[0]).toBe('certificates');
  });
});
