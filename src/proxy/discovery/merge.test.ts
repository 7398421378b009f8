import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { mergeOrders } from './group-order.js';
import { type MergedDiscovery, mergeDiscovery } from './merge.js';
import { arbitraryServers, group, resource, server, surfaceOf, version } from './surface.fixture.js';

const names = (groups: readonly GroupDiscovery[]) => groups.map((g) => g.metadata.name ?? '');
const versionsOf = (groups: readonly GroupDiscovery[], name: string) =>
  groups.find((g) => (g.metadata.name ?? '') === name)?.versions?.map((v) => v.version);

describe('mergeDiscovery', () => {
  it('returns the union of groups, versions, resources, subresources and verbs', () => {
    const older = surfaceOf(
      [group('apps', version('v1', resource('deployments')))],
      [group('', version('v1', resource('pods', { verbs: ['list', 'get'], subresources: [{ subresource: 'log' }] })))],
      'v1.35.8',
    );
    const newer = surfaceOf(
      [
        group('apps', version('v1', resource('daemonsets'))),
        group('scheduling.k8s.io', version('v1alpha2', resource('podgroups'))),
      ],
      [
        group(
          '',
          version(
            'v1',
            resource('pods', {
              verbs: ['patch', 'get'],
              shortNames: ['po'],
              subresources: [{ subresource: 'resize', responseKind: { kind: 'Pod' }, verbs: ['patch'] }],
            }),
          ),
        ),
      ],
    );
    const merged = mergeDiscovery([server('a', older), server('b', newer)]);
    expect(names(merged.groups)).toEqual(['apps', 'scheduling.k8s.io']);
    expect(merged.groups[0]!.versions![0]!.resources!.map((r) => r.resource)).toEqual(['daemonsets', 'deployments']);
    const pods = merged.core[0]!.versions![0]!.resources![0]!;
    expect(pods.verbs).toEqual(['get', 'list', 'patch']);
    expect(pods.shortNames).toEqual(['po']);
    expect(pods.subresources).toEqual([
      { subresource: 'log', verbs: [] },
      { subresource: 'resize', responseKind: { group: '', version: '', kind: 'Pod' }, verbs: ['patch'] },
    ]);
  });

  it('returns the union of the accepted types of a subresource', () => {
    const sub = (version: string) =>
      resource('pods', {
        subresources: [{ subresource: 'eviction', acceptedTypes: [{ group: 'policy', version, kind: 'Eviction' }] }],
      });
    const merged = mergeDiscovery([
      server('a', surfaceOf([], [group('', version('v1', sub('v1beta1')))], 'v1.35.8')),
      server('b', surfaceOf([], [group('', version('v1', sub('v1')))])),
    ]);
    expect(merged.core[0]!.versions![0]!.resources![0]!.subresources![0]!.acceptedTypes).toEqual([
      { group: 'policy', version: 'v1', kind: 'Eviction' },
      { group: 'policy', version: 'v1beta1', kind: 'Eviction' },
    ]);
  });

  it('orders versions by priority if servers order them differently', () => {
    const merged = mergeDiscovery([
      server('a', surfaceOf([group('g', version('v1beta1'), version('v2'), version('v1'))])),
      server('b', surfaceOf([group('g', version('v1'), version('v1beta1'))])),
    ]);
    expect(versionsOf(merged.groups, 'g')).toEqual(['v2', 'v1', 'v1beta1']);
  });

  it('orders groups like the newest server if servers order them differently', () => {
    const merged = mergeDiscovery([
      server('a', surfaceOf([group('x'), group('y'), group('z')], [], 'v1.35.8')),
      server('b', surfaceOf([group('y'), group('x')], [], 'v1.36.4')),
    ]);
    expect(names(merged.groups)).toEqual(['y', 'z', 'x']);
  });

  it('takes single values from the newest live server', () => {
    const of = (kind: string, kubernetesVersion: string) =>
      surfaceOf([group('g', version('v1', resource('as', { responseKind: { kind } })))], [], kubernetesVersion);
    const merged = mergeDiscovery([
      server('a', of('Old', 'v1.35.8')),
      server('b', of('New', 'v1.36.4')),
      server('c', of('Gone', 'v1.37.0'), true),
    ]);
    expect(merged.groups[0]!.versions![0]!.resources![0]!.responseKind!.kind).toBe('New');
  });

  it('marks a version stale only if every live server does, or only departed servers serve it', () => {
    const one = (freshness: 'Current' | 'Stale') => surfaceOf([group('g', { version: 'v1', freshness })]);
    const freshness = (...servers: Parameters<typeof mergeDiscovery>[0][number][]) =>
      mergeDiscovery(servers).groups[0]!.versions![0]!.freshness;
    expect(freshness(server('a', one('Stale')), server('b', one('Current')))).toBe('Current');
    expect(freshness(server('a', one('Stale')), server('b', one('Stale')))).toBe('Stale');
    expect(freshness(server('a', one('Current'), true))).toBe('Stale');
    expect(freshness(server('a', one('Current'), true), server('b', one('Current')))).toBe('Current');
    expect(freshness(server('a', one('Current'), true), server('b', one('Stale')))).toBe('Stale');
  });

  it('returns the same result for any order of servers', () => {
    fc.assert(
      fc.property(
        arbitraryServers.chain((servers) =>
          fc.tuple(fc.constant(servers), fc.shuffledSubarray(servers, { minLength: servers.length })),
        ),
        ([servers, shuffled]) => {
          expect(JSON.stringify(mergeDiscovery(shuffled))).toBe(JSON.stringify(mergeDiscovery(servers)));
        },
      ),
    );
  });

  it('returns the same result when merged with itself', () => {
    fc.assert(
      fc.property(arbitraryServers, (servers) => {
        const once = mergeDiscovery(servers);
        const again = mergeDiscovery([
          server('x', surfaceOf(once.groups, once.core)),
          server('y', surfaceOf(once.groups, once.core)),
        ]);
        expect(again).toEqual(once);
      }),
    );
  });

  it('contains exactly the resources that some server serves', () => {
    fc.assert(
      fc.property(arbitraryServers, (servers) => {
        expect(facts(mergeDiscovery(servers))).toEqual(new Set(servers.flatMap((s) => [...facts(s.surface)])));
      }),
    );
  });

  it('keeps the relative order of groups and versions if the servers agree', () => {
    fc.assert(
      fc.property(arbitraryServers, (servers) => {
        const merged = names(mergeDiscovery(servers).groups);
        const orders = servers.map((s) => names(s.surface.groups));
        if (!mergeOrders(orders)) return;
        for (const order of orders) expect(merged.filter((name) => order.includes(name))).toEqual(order);
      }),
    );
  });
});

/** Returns every group, version, resource, verb and subresource as one flat set. */
function facts(merged: MergedDiscovery): Set<string> {
  const found = new Set<string>();
  for (const g of [...merged.core, ...merged.groups]) {
    found.add(`${g.metadata.name}`);
    for (const v of g.versions ?? []) {
      found.add(`${g.metadata.name}/${v.version}`);
      for (const r of v.resources ?? []) {
        const at = `${g.metadata.name}/${v.version}/${r.resource}`;
        found.add(at);
        for (const verb of r.verbs ?? []) found.add(`${at}:${verb}`);
        for (const name of r.shortNames ?? []) found.add(`${at} short ${name}`);
        for (const name of r.categories ?? []) found.add(`${at} category ${name}`);
        for (const s of r.subresources ?? []) {
          found.add(`${at}/${s.subresource}`);
          for (const verb of s.verbs ?? []) found.add(`${at}/${s.subresource}:${verb}`);
          for (const k of s.acceptedTypes ?? [])
            found.add(`${at}/${s.subresource} takes ${k.group}/${k.version}/${k.kind}`);
        }
      }
    }
  }
  return found;
}
