import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { apiGroup, apiGroupList } from '../../kube/legacy-discovery.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { serves } from '../../kube/surface.js';
import { sortedResourceList } from './legacy-discovery.js';
import { findVersion, mergeDiscovery } from './merge.js';
import { arbitraryServers, group, resource, server, surfaceOf, version } from './surface.fixture.js';

const NO_HASHES = new Map<string, string>();

function everyVersion(groups: readonly GroupDiscovery[]) {
  return groups.flatMap((g) => (g.versions ?? []).map((v) => ({ group: g.metadata.name ?? '', version: v.version })));
}

describe('legacy discovery', () => {
  it('has group and version of a subresource kind of another group', () => {
    const scale = {
      subresource: 'scale',
      responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      verbs: ['get'],
    };
    const surface = surfaceOf([group('apps', version('v1', resource('deployments', { subresources: [scale] })))]);
    const merged = mergeDiscovery([server('a', surface)]);
    const at = { group: 'apps', version: 'v1' };
    expect(sortedResourceList(at, findVersion(merged, 'apps', 'v1')!, NO_HASHES).resources[1]).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get'],
    });
  });

  it('omits a resource that is only the parent of subresources', () => {
    const parent = resource('pods', { verbs: [], subresources: [{ subresource: 'metric', verbs: ['get'] }] });
    const merged = mergeDiscovery([server('a', surfaceOf([group('m.io', version('v1', parent))]))]);
    const list = sortedResourceList({ group: 'm.io', version: 'v1' }, findVersion(merged, 'm.io', 'v1')!, NO_HASHES);
    expect(list.resources.map((r) => r.name)).toEqual(['pods/metric']);
  });

  it('has the same groups, order, versions and preferred version as aggregated discovery', () => {
    fc.assert(
      fc.property(arbitraryServers, (servers) => {
        const merged = mergeDiscovery(servers);
        const list = apiGroupList(merged.groups);
        expect(list.groups.map((g) => g.name)).toEqual(merged.groups.map((g) => g.metadata.name));
        for (const [i, g] of list.groups.entries()) {
          expect(g.versions.map((v) => v.version)).toEqual(merged.groups[i]!.versions!.map((v) => v.version));
          expect(g.preferredVersion).toEqual(g.versions[0]);
          expect(apiGroup(merged.groups, g.name)).toMatchObject(g);
        }
      }),
    );
  });

  it('has the same resources as aggregated discovery, and only verbs that some server serves', () => {
    fc.assert(
      fc.property(arbitraryServers, (servers) => {
        const merged = mergeDiscovery(servers);
        for (const at of [...everyVersion(merged.core), ...everyVersion(merged.groups)]) {
          const aggregated = findVersion(merged, at.group, at.version)!;
          const { resources } = sortedResourceList(at, aggregated, NO_HASHES);
          const expected = (aggregated.resources ?? []).flatMap((r) => [
            r.resource,
            ...(r.subresources ?? []).map((s) => `${r.resource}/${s.subresource}`),
          ]);
          expect(resources.map((r) => r.name)).toEqual(expected.sort());
          const base = at.group === '' ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
          for (const r of resources) {
            const [name, sub] = r.name.split('/');
            for (const verb of r.verbs) {
              const path = sub ? `${base}/${name}/x/${sub}` : `${base}/${name}/x`;
              const info = { ...parseRequestInfo('GET', path)!, verb };
              expect(servers.some((s) => serves(s.surface, info))).toBe(true);
            }
          }
        }
      }),
    );
  });
});
