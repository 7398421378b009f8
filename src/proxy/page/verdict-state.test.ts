import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import { NO_COUNTS } from './flow-seconds.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import type { PageFacts } from './page-facts.js';
import { isProtected } from './page-facts.js';
import type { ReachDocument } from './reach-document.js';
import { serverFacts } from './server-facts.js';
import { skewColumns, skewRows, skewState } from './skew-state.js';
import { verdictState } from './verdict-state.js';

const OLD = surfaceOf({ '/v1/pods': 'get' }, 'v1.36.4');
const NEW = surfaceOf({ '/v1/pods': 'get' }, 'v1.37.1');
const WITH_WIDGETS = surfaceOf({ '/v1/pods': 'get', 'x/v1/widgets': 'get', 'x/v1/widgets/status': 'get' }, 'v1.37.1');

function documentOf(more: Partial<ReachDocument> = {}): ReachDocument {
  return {
    ...{ kind: 'StraddleReach', formatVersion: 1, server: '', straddleVersion: '0.1.0', peering: true },
    ...{ passthrough: false, leaseRenewedAtMs: null, certificateExpiresAtMs: null, peers: [] },
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
): PageFacts {
  return {
    nowMs: played.nowMs,
    inFlight: new Map(),
    servers: serverFacts(played.sources),
    documents: new Map(Object.entries(documents)),
    peeringActive: played.peeringActive,
    passthrough: played.passthrough.on,
    synced: played.synced,
    leftOutCount: 0,
    conflictCount: 0,
    certificateExpiresAtMs: undefined,
    frontProxyExpiresAtMs: played.frontProxyExpiresAtMs,
  };
}

function verdictOf(played: PlayedPlane, documents?: Record<string, ReachDocument>) {
  const facts = factsOf(played, documents);
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
  ])('says no while %s', (_, id, change) => {
    const { may, ids } = verdictOf(Object.assign(plane(), change));
    expect(may).toBe('no');
    expect(ids).toContain(id);
  });

  it.each<[string, string, Partial<ReachDocument>]>([
    ['passthrough is on at a peer', 'passthrough', { passthrough: true }],
    ['a peer runs without the proxy', 'unprotected', { peering: false }],
    ['two peers do not reach each other', 'peers', { peers: [{ name: 'CP-3', reaches: false }] }],
  ])('says no while %s, as that peer reports', (_, id, reported) => {
    const { may, ids } = verdictOf(plane(), { 'cp-2': documentOf(reported), 'cp-3': documentOf() });
    expect(may).toBe('no');
    expect(ids).toContain(id);
  });

  it('says what is answered 503 for a departed server, and how to forget it', () => {
    const played = plane();
    played.departed = [{ identity: 'cp-9', departedAtMs: 0, surface: surfaceOf({ 'y/v1/zs': 'get' }) }];
    expect(verdictOf(played).reasons.find(({ id }) => id === 'stale-surface')).toEqual({
      id: 'stale-surface',
      text: 'cp-9 went away and is remembered: zs.v1.y is answered 503',
      remedy: 'straddle forget cp-9',
      isCommand: true,
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
});
