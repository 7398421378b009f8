import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { Exchange } from '../../http/exchange.js';
import { ANONYMOUS } from '../../http/identity.js';
import { bearer, exchangeFor, user } from '../discovery/exchange.fixture.js';
import { CLIENTS_MAX } from './client-counts.js';
import { FLOW_ROWS_MAX, FLOW_ROWS_PER_SECOND_MAX, FlowRecorder } from './flow-recorder.js';
import { FLOW_SECONDS_MAX } from './flow-seconds.js';

const KUBECTL = ['User-Agent', 'kubectl/v1.36.4 (linux/amd64) kubernetes/abc'];

function recorder(isRemembered = false) {
  const clock = new ManualClock();
  const made = new FlowRecorder({
    serverName: 'cp-1',
    clock,
    isRemembered: () => isRemembered,
    inFlight: () => new Map([['cp-1', 2]]),
  });
  return { recorder: made, clock, exported: (withUses = false) => made.export({ withUses }) };
}

function routed(target: string, more: Partial<Exchange> = {}, headers = KUBECTL): Exchange {
  return Object.assign(exchangeFor(target, { headers, identity: user('jane') }), more);
}

const LOCAL = { routed: { to: 'local', why: 'served here' } };
const REROUTED = { routed: { to: 'cp-2', why: 'only peers serve it' }, prevented404: true };
const HELD = { heldBack: 'cp-2, which served it, has gone away', prevented404: true };

describe('flow recorder', () => {
  it('keeps what was asked, who answered and why, without names', () => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/apis/batch/v1/namespaces/x/jobs/j/status?a=b', REROUTED), 200, 12.3456, true);
    expect(exported().rows).toEqual([
      {
        id: 1,
        atMs: 0,
        arrivedAt: 'cp-1',
        answeredBy: 'cp-2',
        verb: 'get',
        resource: 'jobs.v1.batch/status',
        userAgent: KUBECTL[1],
        status: 200,
        why: 'only peers serve it',
        ms: 12.35,
        kind: 'rerouted',
      },
    ]);
  });

  it.each([
    ['local', LOCAL, 'cp-1', 'served here'],
    ['held', HELD, null, 'cp-2, which served it, has gone away'],
    ['own', {}, null, ''],
  ] as const)('shows an answer of kind %s', (kind, how, answeredBy, why) => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/api/v1/pods', how), 200, 1, true);
    expect(exported().rows[0]).toMatchObject({ kind, answeredBy, why });
  });

  it('counts each second, also those without requests, and keeps 15 minutes of them', async () => {
    const { recorder: flow, clock, exported } = recorder();
    flow.record(routed('/api/v1/pods', LOCAL), 200, 1, true);
    flow.record(routed('/api/v1/pods', { ...REROUTED, failovers: 2 }), 200, 1, true);
    expect(exported().seconds).toEqual([]);
    await clock.advance(2_000);
    flow.record(routed('/api/v1/pods', HELD), 503, 1, true);
    await clock.advance(1_000);
    const nothing = { requests: 0, rerouted: 0, prevented404: 0, held503: 0, failovers: 0 };
    expect(exported().seconds.map(({ atMs: _, ...counts }) => counts)).toEqual([
      { requests: 2, rerouted: 1, prevented404: 1, held503: 0, failovers: 2 },
      nothing,
      { requests: 1, rerouted: 0, prevented404: 1, held503: 1, failovers: 0 },
    ]);
    await clock.advance(FLOW_SECONDS_MAX * 1_000);
    expect(exported().seconds).toHaveLength(FLOW_SECONDS_MAX - 1);
    expect(exported().seconds.every(({ requests }) => requests === 0)).toBe(true);
    expect(exported().totals).toMatchObject({ requests: 3, prevented404: 2 });
  });

  it('keeps some requests of a second one by one and counts the others', async () => {
    const { recorder: flow, clock, exported } = recorder();
    for (let i = 0; i < FLOW_ROWS_PER_SECOND_MAX + 5; i++) flow.record(routed('/api/v1/pods', LOCAL), 200, 1, true);
    expect([exported().rows.length, exported().left]).toEqual([FLOW_ROWS_PER_SECOND_MAX, 5]);
    for (let second = 0; second < 10; second++) {
      await clock.advance(1_000);
      for (let i = 0; i < FLOW_ROWS_PER_SECOND_MAX; i++) flow.record(routed('/api/v1/pods', LOCAL), 200, 1, true);
    }
    const { rows } = exported();
    expect(rows).toHaveLength(FLOW_ROWS_MAX);
    expect(rows.at(-1)!.id).toBe(11 * FLOW_ROWS_PER_SECOND_MAX);
    expect(rows[0]!.id).toBe(11 * FLOW_ROWS_PER_SECOND_MAX - FLOW_ROWS_MAX + 1);
  });

  it('keeps when each resource was last used, to the minute', async () => {
    const { recorder: flow, clock, exported } = recorder();
    const beganAtMs = clock.nowMs();
    flow.record(routed('/api/v1/pods', LOCAL), 200, 1, true);
    await clock.advance(90_000);
    flow.record(routed('/api/v1/namespaces/x/pods/p/log', LOCAL), 200, 1, true);
    flow.record(routed('/apis/made/v1/up', LOCAL), 404, 1, false);
    expect([...exported(true).used!]).toEqual([
      ['pods.v1', beganAtMs],
      ['pods.v1/log', beganAtMs + 60_000],
    ]);
    expect(exported().used).toBeUndefined();
  });

  it('counts clients by program and version, and what would have failed', () => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/api/v1/pods', REROUTED), 200, 1, true);
    flow.record(routed('/api/v1/pods', LOCAL), 200, 1, true);
    flow.record(routed('/api/v1/pods', LOCAL, ['user-agent', 'kubectl/v1.36.4 (darwin/arm64)']), 200, 1, true);
    flow.record(routed('/api/v1/pods', { routed: REROUTED.routed }), 404, 1, true);
    expect(exported().clients).toMatchObject([
      { name: 'kubectl', version: 'v1.36.4', requests: 4, wouldHaveFailed: 1 },
    ]);
  });

  it('bounds the number of user agents; invented ones give way to each other, not those with many requests', () => {
    const { recorder: flow, exported } = recorder();
    const ask = (agent: string) => flow.record(routed('/api/v1/pods', LOCAL, ['user-agent', agent]), 200, 1, true);
    for (let i = 0; i < 3; i++) ask('kubelet/v1');
    for (let i = 0; i < CLIENTS_MAX + 10; i++) ask(`c${i}/1`);
    for (let i = 0; i < 3; i++) ask('late/v1');
    const { clients, clientsLeft } = exported();
    expect([clients.length, clientsLeft]).toEqual([CLIENTS_MAX, 12]);
    expect(clients.slice(0, 2).map(({ name, requests }) => [name, requests])).toEqual([
      ['kubelet', 3],
      ['late', 3],
    ]);
  });

  it('cuts user agents', () => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/api/v1/pods', LOCAL, ['user-agent', `${'x'.repeat(10_000)}\u001b[2J`]), 200, 1, true);
    expect(exported().rows.at(-1)!.userAgent).toHaveLength(128);
  });

  const token = (proven: boolean) => ({ kind: 'carried', flow: 'token:x', proven }) as const;
  const connection = (authenticated: boolean) => ({ remoteAddress: '127.0.0.1', certificateChain: [], authenticated });

  it.each<[string, Partial<Exchange>, number]>([
    ['was answered 401', LOCAL, 401],
    ['has no credentials', { ...LOCAL, identity: ANONYMOUS }, 200],
    [
      'has no credentials, on a connection of somebody else',
      { ...LOCAL, identity: ANONYMOUS, connection: connection(true) },
      200,
    ],
    ['is of system:anonymous', { ...LOCAL, identity: user('system:anonymous') }, 200],
    ['is held back before its token was judged', { ...HELD, identity: token(false) }, 503],
  ])('records nothing of a request that %s', (_, more, status) => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/api/v1/pods', more), status, 1, true);
    expect(exported(true)).toMatchObject({ rows: [], clients: [], prevented: [], totals: { requests: 0, held503: 0 } });
    expect(exported(true).used!.size).toBe(0);
  });

  it.each<[string, Partial<Exchange>]>([
    ['whose token was accepted before', { identity: token(true) }],
    ['whose token was accepted now', { identity: token(false), connection: connection(true) }],
  ])('records a request %s', (_, more) => {
    const { recorder: flow, exported } = recorder();
    flow.record(routed('/api/v1/pods', { ...LOCAL, ...more }, [...KUBECTL, ...bearer('t')]), 200, 1, true);
    expect(exported()).toMatchObject({ rows: [{}], totals: { requests: 1 } });
  });

  it.each([401, 403, 404, 429, 500, 503])(
    'does not count an answer %i of a peer as one that would have failed',
    (status) => {
      const { recorder: flow, exported } = recorder();
      flow.record(routed('/api/v1/pods', { routed: REROUTED.routed }), status, 1, true);
      flow.record(routed('/api/v1/pods', HELD), 503, 1, true);
      expect(exported().clients[0]!.wouldHaveFailed).toBe(0);
    },
  );

  it('leaves out health pages, the page itself, other Straddles and what peers rerouted', () => {
    const { recorder: flow, exported } = recorder();
    for (const path of ['/livez', '/readyz', '/healthz', '/straddle/', '/straddle/api/v1/state', '/straddle']) {
      flow.record(routed(path), 200, 1, false);
    }
    flow.record(routed('/api/v1/pods', { ...LOCAL, peerProxied: true }), 200, 1, true);
    flow.record(
      routed('/api/v1/pods', { ...LOCAL, trustedProxy: true, identity: user('system:straddle') }),
      200,
      1,
      true,
    );
    expect(exported().totals.requests).toBe(0);
    flow.record(routed('/api/v1/pods', { ...LOCAL, identity: user('system:straddle') }), 200, 1, true);
    expect(exported().totals.requests).toBe(1);
  });

  it('joins prevented 404s to runs, for the timeline', async () => {
    const { recorder: flow, clock, exported } = recorder();
    flow.record(routed('/api/v1/pods', REROUTED), 200, 1, true);
    await clock.advance(30_000);
    flow.record(routed('/api/v1/pods', HELD), 503, 1, true);
    await clock.advance(61_000);
    flow.record(routed('/api/v1/pods', HELD), 503, 1, true);
    expect(exported().prevented.map(({ fromMs, toMs, count }) => [toMs - fromMs, count])).toEqual([
      [30_000, 2],
      [0, 1],
    ]);
  });

  it('shows an unknown resource by its name only if a departed server served it', () => {
    const unknown = recorder();
    unknown.recorder.record(routed('/apis/x/v1/invented', HELD), 503, 1, false);
    expect(unknown.exported().rows[0]!.resource).toBe('unknown resource');
    const remembered = recorder(true);
    remembered.recorder.record(routed('/apis/x/v1/widgets', HELD), 503, 1, false);
    expect(remembered.exported().rows[0]!.resource).toBe('widgets.v1.x');
  });

  it('never has a name of an object, a part of a query or an unknown path in what it exports', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{12,20}$/).map((text) => `zz${text}`);
    const target = fc.oneof(
      secret.map((name) => `/api/v1/namespaces/${name}/secrets/${name}?x=${name}`),
      secret.map((name) => `/api/v1/watch/namespaces/default/secrets/${name}`),
      secret.map((name) => `/apis/apps/v1/namespaces/${name}/deployments/${name}/${name}`),
      secret.map((name) => `/apis/${name}/v1/${name}`),
      secret.map((name) => `/apis/${name}`),
      secret.map((name) => `/${name}/${name}`),
      secret.map((name) => `//${name}`),
      secret.map((name) => `/logs/${name}?${name}`),
      secret.map((name) => `/openapi/v3/apis/${name}`),
    );
    const how = fc.constantFrom<Partial<Exchange>>(LOCAL, REROUTED, HELD, {});
    const method = fc.oneof(
      fc.constantFrom('GET', 'POST', 'DELETE'),
      secret.map((name) => `${name.toUpperCase()}-`),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(target, how, method), { maxLength: 20 }), (requests) => {
        const { recorder: flow, exported } = recorder();
        for (const [path, outcome, verb] of requests) {
          const exchange = Object.assign(
            exchangeFor(path, { headers: KUBECTL, method: verb, identity: user('jane') }),
            outcome,
          );
          const isServed = exchange.info.resource === 'secrets';
          flow.record(exchange, 200, 1, isServed);
        }
        const { used, ...rest } = exported(true);
        expect(`${JSON.stringify(rest)}${JSON.stringify([...used!])}`).not.toMatch(/zz[a-z0-9]{12}/i);
      }),
      { numRuns: 300 },
    );
  });
});
