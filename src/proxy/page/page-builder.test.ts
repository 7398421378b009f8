import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { Exchange } from '../../http/exchange.js';
import { exchangeFor, user } from '../discovery/exchange.fixture.js';
import { FlowRecorder } from './flow-recorder.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import { PageBuilder } from './page-builder.js';
import {
  flowPosition,
  flowUpdate,
  knownSections,
  SECTION_NAMES,
  sectionOf,
  stateJson,
  updated,
  updateFor,
} from './page-snapshot.js';
import { TimelineRecorder } from './timeline-recorder.js';

function built() {
  const plane = new PlayedPlane();
  plane.peers = [
    { name: 'cp-2', surface: surfaceOf({ '/v1/pods': 'get', 'x/v1/widgets': 'get' }, 'v1.37.1'), usable: true },
  ];
  const clock = new ManualClock(plane.nowMs);
  const recorder = new FlowRecorder({
    serverName: 'cp-1',
    clock,
    isRemembered: () => false,
    inFlight: () => new Map(),
  });
  const asked: boolean[] = [];
  const builder = new PageBuilder({
    sources: plane.sources,
    product: 'sidecar',
    straddleVersion: '0.1.0',
    reach: { look: async () => {}, documents: new Map() },
    timeline: new TimelineRecorder({ sources: plane.sources, clock }),
    flows: async (options) => {
      asked.push(options.withUses);
      return [[0, recorder.export(options)]];
    },
  });
  const record = (target: string, outcome: Partial<Exchange> = {}, headers: string[] = []) => {
    const exchange = Object.assign(exchangeFor(target, { headers, identity: user('jane') }), outcome);
    recorder.record(exchange, 200, 1, ['pods', 'secrets', 'widgets'].includes(exchange.info.resource));
  };
  const later = async (ms: number) => {
    plane.nowMs += ms;
    await clock.advance(ms);
  };
  return { plane, builder, record, later, asked };
}

describe('page builder', () => {
  it('builds every section, and the document of the API is their sum', async () => {
    const { builder, record } = built();
    record('/api/v1/pods', { routed: { to: 'local', why: 'served here' } });
    const snapshot = await builder.build();
    const state = JSON.parse(stateJson(snapshot));
    expect(Object.keys(state).sort()).toEqual(
      [...SECTION_NAMES, 'flow', 'kind', 'formatVersion', 'server', 'product', 'straddleVersion', 'atMs'].sort(),
    );
    expect(state.flow.recent).toHaveLength(1);
    for (const name of SECTION_NAMES) expect(state[name]).toEqual(sectionOf(snapshot, name));
  });

  it('gives a section another number only if it has changed', async () => {
    const { builder, plane } = built();
    const first = knownSections(await builder.build());
    expect(knownSections(await builder.build())).toEqual(first);
    plane.peers[0]!.usable = false;
    const then = knownSections(await builder.build());
    expect(SECTION_NAMES.filter((name) => then[name] !== first[name])).toEqual([
      ...['verdict', 'servers', 'reach', 'skew', 'timeline', 'checks'],
    ]);
  });

  it('sends another process what it lacks, which that one joins to the same state', async () => {
    const { builder, plane } = built();
    const first = await builder.build();
    const whole = updated(undefined, updateFor(first, {}))!;
    plane.passthrough = { on: true, sinceMs: 0, reason: '' };
    const then = await builder.build();
    const update = updateFor(then, knownSections(whole));
    expect(Object.keys(update.sections)).not.toContain('clients');
    expect(stateJson(updated(whole, update)!)).toBe(stateJson(then));
    expect(updated(undefined, update)).toBeUndefined();
  });

  it('asks for the list of uses now and then only, and keeps it meanwhile', async () => {
    const { builder, record, later, asked } = built();
    record('/apis/x/v1/widgets');
    await builder.build();
    await later(1_000);
    const snapshot = await builder.build();
    expect(asked).toEqual([true, false]);
    expect(sectionOf(snapshot, 'skew').rows.find(({ name }) => name === 'widgets.v1.x')!.usedAtMs).not.toBeNull();
    await later(15_000);
    await builder.build();
    expect(asked).toEqual([true, false, true]);
  });

  it('asks for the list of uses again after the clock was set back', async () => {
    const { builder, plane, asked } = built();
    await builder.build();
    plane.nowMs -= 3_600_000;
    await builder.build();
    expect(asked).toEqual([true, true]);
  });

  it('has in the verdict what becomes the only place of something', async () => {
    const { builder, plane } = built();
    const texts = async () => sectionOf(await builder.build(), 'verdict').reasons.map(({ text }) => text);
    plane.peers.push({ ...plane.peers[0]!, name: 'cp-3' });
    expect(await texts()).not.toContain('only cp-3 serves widgets.v1.x');
    plane.peers[0]!.usable = false;
    expect(await texts()).toContain('only cp-3 serves widgets.v1.x');
  });

  it('has what came since a reader was last sent the flow', async () => {
    const { builder, record, later } = built();
    record('/api/v1/pods');
    await later(1_000);
    const first = await builder.build();
    expect(flowUpdate(first.flow, flowPosition(first.flow))).toBeUndefined();
    record('/api/v1/secrets');
    await later(1_000);
    const update = flowUpdate((await builder.build()).flow, flowPosition(first.flow))!;
    expect(update.rows.map(({ resource }) => resource)).toEqual(['secrets.v1']);
    expect(update.seconds.map(({ requests }) => requests)).toEqual([1]);
    expect(update.totals.requests).toBe(2);
  });

  it('never has a name of a secret or a part of a query in the state', async () => {
    const secret = fc.stringMatching(/^[a-z0-9]{12,20}$/).map((text) => `zz${text}`);
    const target = fc.oneof(
      secret.map((name) => `/api/v1/namespaces/${name}/secrets/${name}?fieldSelector=metadata.name%3D${name}`),
      secret.map((name) => `/apis/x/v1/namespaces/${name}/widgets/${name}/status?watch=1&labelSelector=${name}`),
      secret.map((name) => `/apis/${name}/v1/${name}/${name}`),
      secret.map((name) => `/${name}?token=${name}`),
    );
    const outcome = fc.constantFrom<Partial<Exchange>>(
      { routed: { to: 'local', why: 'served here' } },
      { routed: { to: 'cp-2', why: 'only peers serve it' }, prevented404: true },
      { heldBack: 'cp-2, which served it, has gone away' },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(target, outcome), { minLength: 1, maxLength: 10 }), async (requests) => {
        const { builder, record, later } = built();
        for (const [path, how] of requests) record(path, how, ['Authorization', 'Bearer zzsecretsecret1']);
        await later(1_000);
        const snapshot = await builder.build();
        expect(snapshot.flow.totals.requests).toBe(requests.length);
        expect(stateJson(snapshot)).not.toMatch(/zz[a-z0-9]{12}/i);
      }),
      { numRuns: 100 },
    );
  });
});
