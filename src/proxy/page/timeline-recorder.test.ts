import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import { EVENTS_MAX, SPANS_PER_LANE_MAX, TimelineRecorder } from './timeline-recorder.js';

const OLD = surfaceOf({ '/v1/pods': 'get' }, 'v1.36.4');
const NEW = surfaceOf({ '/v1/pods': 'get', '/v1/pods/resize': 'get', 'x/v1/widgets': 'get' }, 'v1.37.1');

function recorded() {
  const plane = new PlayedPlane();
  plane.surface = OLD;
  plane.peers = [{ name: 'cp-2', surface: OLD, usable: true }];
  const recorder = new TimelineRecorder({ sources: plane.sources, clock: new ManualClock(plane.nowMs) });
  recorder.look();
  const later = (ms: number) => {
    plane.nowMs += ms;
    recorder.look();
  };
  const timeline = () => recorder.timeline([]);
  return {
    plane,
    recorder,
    later,
    timeline,
    texts: () => timeline().events.map(({ kind, text }) => `${kind}: ${text}`),
  };
}

describe('timeline recorder', () => {
  it('has a lane for each server, and no events for those that were there at the start', () => {
    const { timeline, plane } = recorded();
    expect(timeline()).toEqual({
      startedAtMs: plane.nowMs,
      lanes: ['cp-1', 'cp-2'].map((server) => ({
        server,
        spans: [{ fromMs: plane.nowMs, toMs: null, state: 'ready', version: 'v1.36.4' }],
      })),
      events: [],
      longestGap: null,
    });
  });

  it('records that a server left and came back as another version, with new APIs and the gap', () => {
    const { plane, later, timeline, texts } = recorded();
    Object.assign(plane.peers[0]!, { usable: false, lastError: 'connection refused' });
    later(60_000);
    Object.assign(plane.peers[0]!, { usable: true, surface: NEW });
    later(12_000);
    expect(texts()).toEqual([
      'left: cp-2 does not answer: connection refused',
      'version: cp-2 came back as v1.37.1 (was v1.36.4)',
      'api-appeared: cp-2 serves pods.v1/resize, widgets.v1.x',
    ]);
    expect(timeline().longestGap).toEqual({ server: 'cp-2', ms: 12_000 });
    expect(timeline().lanes[1]!.spans.map(({ state, version }) => [state, version])).toEqual([
      ['ready', 'v1.36.4'],
      ['down', 'v1.36.4'],
      ['ready', 'v1.37.1'],
    ]);
  });

  it('counts a gap that goes on', () => {
    const { plane, later, timeline } = recorded();
    plane.ready = false;
    later(1_000);
    later(9_000);
    expect(timeline().longestGap).toEqual({ server: 'cp-1', ms: 9_000 });
  });

  it('records a departed server, the end of its memory, and APIs that are gone', () => {
    const { plane, later, texts, timeline } = recorded();
    plane.peers = [];
    plane.departed = [{ identity: 'cp-2', departedAtMs: plane.nowMs, surface: OLD }];
    later(40_000);
    plane.departed = [];
    plane.surface = surfaceOf({}, 'v1.36.4');
    later(1_000);
    expect(texts()).toEqual(['left: cp-2 left', 'api-gone: cp-1 no longer serves pods.v1']);
    expect(timeline().lanes[1]!.spans.at(-1)).toMatchObject({ state: 'gone', toMs: plane.nowMs });
  });

  it('records a new server after the start, and passthrough with its reason', () => {
    const { plane, later, texts } = recorded();
    later(60_000);
    plane.peers.push({ name: 'cp-3', surface: NEW, usable: true });
    plane.passthrough = { on: true, sinceMs: 0, reason: 'discovery is wrong' };
    later(1_000);
    plane.passthrough = { on: false, sinceMs: 0, reason: '' };
    later(1_000);
    expect(texts()).toEqual([
      'came: cp-3 came as v1.37.1',
      'passthrough: passthrough on: discovery is wrong',
      'passthrough: passthrough off',
    ]);
  });

  it('shows runs of prevented 404s among the events', () => {
    const { recorder, plane } = recorded();
    const fromMs = plane.nowMs;
    expect(recorder.timeline([{ fromMs, toMs: fromMs, count: 3 }]).events).toEqual([
      { atMs: fromMs, server: 'cp-1', kind: 'prevented-404', text: '3 wrong 404s prevented' },
    ]);
  });

  it('keeps a bounded number of events and spans of a server that flaps', () => {
    const { plane, later, timeline } = recorded();
    for (let i = 0; i < EVENTS_MAX + 50; i++) {
      plane.ready = !plane.ready;
      later(1_000);
    }
    expect(timeline().events).toHaveLength(EVENTS_MAX);
    expect(timeline().lanes[0]!.spans).toHaveLength(SPANS_PER_LANE_MAX);
  });

  it('looks at each change and once a second, until it is closed', async () => {
    const plane = new PlayedPlane();
    const clock = new ManualClock(plane.nowMs);
    const recorder = new TimelineRecorder({ sources: plane.sources, clock });
    recorder.start();
    plane.ready = false;
    await clock.advance(1_000);
    expect(recorder.timeline([]).lanes[0]!.spans).toHaveLength(1);
    plane.ready = true;
    plane.changed();
    expect(recorder.timeline([]).lanes[0]!.spans).toHaveLength(2);
    recorder.close();
    expect([clock.pending, plane.listeners]).toEqual([0, 0]);
  });

  it('misses a server that was ready and that no source names any more, until it answers under any name', () => {
    const { plane, recorder, later } = recorded();
    const missing = () => recorder.missing().names;
    const [peer] = plane.peers;
    plane.peers = [{ ...peer!, isDeparted: true }];
    later(6_000);
    expect(missing()).toEqual([]);
    plane.peers = [];
    later(600_000);
    expect(missing()).toEqual(['cp-2']);
    plane.peers = [{ ...peer!, name: 'other', address: 'cp-2:6443' }];
    later(1_000);
    expect(missing()).toEqual([]);
  });

  it('does not miss a server that was never ready', () => {
    const { plane, recorder, later } = recorded();
    plane.peers.push({ name: 'cp-3', surface: undefined, usable: false });
    later(1_000);
    plane.peers.pop();
    later(1_000);
    expect(recorder.missing()).toEqual({ names: [], isCut: false });
  });
});
