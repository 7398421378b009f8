import { describe, expect, it } from 'vitest';
import type { Surface } from '../../kube/surface.js';
import type { PeerTable } from '../peers/peer-table.js';
import { group, resource, surfaceOf, version } from './surface.fixture.js';
import { tableOf } from './table.fixture.js';
import { ViewCache } from './view-cache.js';

const apps = surfaceOf(
  [group('apps', version('v1', resource('deployments')))],
  [group('', version('v1', resource('pods')))],
);
const batch = surfaceOf(
  [group('batch', version('v1', resource('jobs')))],
  [group('', version('v1', resource('pods')))],
);

function cache(self: string, local: Surface | undefined, table: PeerTable) {
  const state = { local, table, hits: 0, misses: 0 };
  const views = new ViewCache(
    { self, local: () => state.local, peers: () => state.table },
    { cacheHit: () => state.hits++, cacheMiss: () => state.misses++ },
  );
  return { state, views };
}

describe('ViewCache', () => {
  it('makes the same bytes and ETag on every server', () => {
    const a = cache('a', apps, tableOf({ b: batch })).views.current()!;
    const b = cache('b', batch, tableOf({ a: apps })).views.current()!;
    for (const root of ['core', 'groups'] as const) {
      for (const form of ['v2', 'v2beta1'] as const) {
        expect(a.aggregated(root, form).bytes).toEqual(b.aggregated(root, form).bytes);
        expect(a.aggregated(root, form).etag).toBe(b.aggregated(root, form).etag);
      }
    }
    expect(a.aggregated('groups', 'v2').contentType).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    expect(JSON.parse(a.aggregated('groups', 'v2beta1').bytes.toString()).apiVersion).toBe(
      'apidiscovery.k8s.io/v2beta1',
    );
  });

  it('builds a view once per change', () => {
    const { state, views } = cache('a', apps, tableOf({ b: batch }));
    const first = views.current();
    state.table = tableOf({ b: batch });
    expect(views.current()).toBe(first);
    expect([state.hits, state.misses]).toEqual([1, 1]);
    state.table = tableOf({});
    const alone = views.current()!;
    expect(alone).not.toBe(first);
    expect(alone.aggregated('groups', 'v2').bytes.toString()).not.toContain('batch');
  });

  it('never returns an old view for new inputs that cannot be merged', () => {
    const { state, views } = cache('a', apps, tableOf({ b: batch }));
    expect(views.current()).toBeDefined();
    state.table = tableOf({ b: { ...batch, groups: [{ ...batch.groups[0]!, metadata: undefined as never }] } });
    for (let turn = 0; turn < 2; turn++) expect(() => views.current()).toThrow();
    expect(state.hits).toBe(0);
  });

  it('reuses a document that a change did not affect', () => {
    const { state, views } = cache('a', apps, tableOf({ b: batch }));
    const before = views.current()!.aggregated('core', 'v2');
    state.table = tableOf({ b: surfaceOf([], batch.core) });
    expect(views.current()!.aggregated('core', 'v2')).toBe(before);
  });

  it('keeps the groups of a departed server, as stale', () => {
    const { views } = cache('a', apps, tableOf({}, { b: batch }));
    const list = JSON.parse(views.current()!.aggregated('groups', 'v2').bytes.toString());
    expect(list.items.map((g: { versions: { freshness: string }[] }) => g.versions[0]!.freshness)).toEqual([
      'Current',
      'Stale',
    ]);
  });

  it('has no view while the local surface is unknown, and is alone without other servers', () => {
    expect(cache('a', undefined, tableOf({ b: batch })).views.current()).toBeUndefined();
    expect(cache('a', apps, tableOf({})).views.alone()).toBe(true);
    expect(cache('a', apps, tableOf({ b: undefined })).views.alone()).toBe(false);
    expect(cache('a', apps, tableOf({}, { b: batch })).views.alone()).toBe(false);
  });
});
