import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../base/work-slices.js';
import { PlayedPlane, surfaceOf } from './page.fixture.js';
import { serverFacts } from './server-facts.js';
import { SKEW_CELLS_MAX, SKEW_ROWS_MAX, skewColumns, skewRows, skewState } from './skew-state.js';

const PODS = { '/v1/pods': 'get' };
const WIDGETS = { ...PODS, 'x/v1/widgets': 'get', '/v1/pods/resize': 'get' };

function skewOf(plane: PlayedPlane, protection: { is?: boolean } = { is: true }, used = new Map<string, number>()) {
  const facts = serverFacts(plane.sources);
  const skew = skewState(
    runAtOnce(skewRows(facts)),
    skewColumns(facts, () => protection.is),
    used,
  );
  return { ...skew, cells: Object.fromEntries(skew.rows.map(({ name, cells }) => [name, cells.join(' ')])) };
}

function played(peer: Partial<PlayedPlane['peers'][number]> = {}): PlayedPlane {
  const plane = new PlayedPlane();
  plane.surface = surfaceOf(PODS);
  plane.peers = [{ name: 'cp-2', surface: surfaceOf(WIDGETS), usable: true, ...peer }];
  return plane;
}

describe('skew', () => {
  it('has what not every server serves: served there, rerouted where a Straddle protects', () => {
    const { servers, cells, alike, left } = skewOf(played());
    expect(servers).toEqual(['cp-1', 'cp-2']);
    expect(cells).toEqual({ 'pods.v1/resize': 'rerouted served', 'widgets.v1.x': 'rerouted served' });
    expect([alike, left]).toEqual([1, 0]);
  });

  it('says absent where nothing is known of a protection, or it is off', () => {
    expect(skewOf(played(), {}).cells['widgets.v1.x']).toBe('absent served');
    expect(skewOf(played(), { is: false }).cells['widgets.v1.x']).toBe('absent served');
  });

  it('says stale and held while the only server that serves it does not answer', () => {
    const plane = played({ usable: false });
    expect(skewOf(plane).cells['widgets.v1.x']).toBe('held stale');
    plane.peers.push({ name: 'cp-3', surface: surfaceOf(WIDGETS), usable: true });
    expect(skewOf(plane).cells['widgets.v1.x']).toBe('rerouted stale served');
  });

  it('has what only a departed server served, and no more of that server', () => {
    const plane = played();
    plane.peers = [];
    plane.departed = [{ identity: 'cp-2', departedAtMs: 0, surface: surfaceOf({ 'x/v1/widgets': 'get' }) }];
    expect(skewOf(plane)).toMatchObject({ cells: { 'widgets.v1.x': 'held stale' }, alike: 1 });
    expect(skewOf(plane).rows).toHaveLength(1);
  });

  it('leaves out a server whose APIs were never read', () => {
    const plane = played({ surface: undefined });
    expect(skewOf(plane)).toMatchObject({ servers: ['cp-1'], rows: [], alike: 1 });
  });

  it('has the time of the last use', () => {
    expect(skewOf(played(), { is: true }, new Map([['widgets.v1.x', 5]])).rows.map(({ usedAtMs }) => usedAtMs)).toEqual(
      [null, 5],
    );
  });

  it('bounds rows, and cells of many servers', () => {
    const many = surfaceOf(
      Object.fromEntries(Array.from({ length: SKEW_ROWS_MAX + 10 }, (_, i) => [`x/v1/r${i}`, 'get'])),
    );
    const plane = played({ surface: many });
    expect(skewOf(plane)).toMatchObject({ left: 11 });
    plane.peers = Array.from({ length: 99 }, (_, i) => ({ name: `p${i}`, surface: many, usable: true }));
    expect(skewOf(plane).rows).toHaveLength(SKEW_CELLS_MAX / 100);
  });
});
