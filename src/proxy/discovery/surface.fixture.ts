import fc from 'fast-check';
import type { GroupDiscovery, ResourceDiscovery, VersionDiscovery } from '../../kube/discovery.js';
import { gvrKey } from '../../kube/gvr.js';
import type { ServedResource, Surface } from '../../kube/surface.js';
import type { ServerSurface } from './merge.js';

/** A surface of two aggregated documents, as proxy/peers builds it. */
export function surfaceOf(
  groups: readonly GroupDiscovery[],
  core: readonly GroupDiscovery[] = [],
  kubernetesVersion = 'v1.36.4',
): Surface {
  const resources = new Map<string, ServedResource>();
  for (const group of [...core, ...groups]) {
    for (const version of group.versions ?? []) {
      for (const resource of version.resources ?? []) {
        resources.set(gvrKey(group.metadata.name ?? '', version.version, resource.resource), {
          verbs: new Set(resource.verbs),
          subresources: new Map((resource.subresources ?? []).map((s) => [s.subresource, new Set(s.verbs)])),
        });
      }
    }
  }
  return { resources, core, groups, kubernetesVersion };
}

export function group(name: string, ...versions: VersionDiscovery[]): GroupDiscovery {
  return { metadata: name === '' ? {} : { name }, versions };
}

export function version(name: string, ...resources: ResourceDiscovery[]): VersionDiscovery {
  return { version: name, resources, freshness: 'Current' };
}

export function resource(name: string, more: Partial<ResourceDiscovery> = {}): ResourceDiscovery {
  return {
    resource: name,
    responseKind: { group: '', version: '', kind: name[0]!.toUpperCase() + name.slice(1, -1) },
    scope: 'Namespaced',
    singularResource: name.slice(0, -1),
    verbs: ['get', 'list'],
    ...more,
  };
}

export function server(identity: string, surface: Surface, departed = false): ServerSurface {
  return { identity, surface, departed };
}

const verbs = fc.uniqueArray(fc.constantFrom('create', 'delete', 'get', 'list', 'patch', 'watch'), { minLength: 1 });
const kind = fc.record({
  group: fc.constantFrom('', 'apps', 'policy'),
  version: fc.constantFrom('', 'v1'),
  kind: fc.constantFrom('A', 'B'),
});

const resources: fc.Arbitrary<ResourceDiscovery[]> = fc.uniqueArray(
  fc.record({
    resource: fc.constantFrom('as', 'bs', 'cs', 'ds'),
    responseKind: kind,
    scope: fc.constantFrom('Namespaced' as const, 'Cluster' as const),
    singularResource: fc.constantFrom('', 'a', 'b'),
    verbs,
    shortNames: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }),
    categories: fc.uniqueArray(fc.constantFrom('all', 'some'), { minLength: 1 }),
    subresources: fc.uniqueArray(
      fc.record({
        subresource: fc.constantFrom('status', 'scale', 'resize'),
        responseKind: kind,
        acceptedTypes: fc.array(kind, { maxLength: 2 }),
        verbs,
      }),
      { selector: (s) => s.subresource },
    ),
  }),
  { selector: (r) => r.resource, maxLength: 3 },
);

const versions: fc.Arbitrary<VersionDiscovery[]> = fc.uniqueArray(
  fc.record({
    version: fc.constantFrom('v1', 'v2', 'v1beta1', 'v1alpha1', 'odd'),
    resources,
    freshness: fc.constantFrom('Current' as const, 'Current' as const, 'Stale' as const),
  }),
  { selector: (v) => v.version, minLength: 1, maxLength: 4 },
);

const groups: fc.Arbitrary<GroupDiscovery[]> = fc.uniqueArray(
  fc.record({ metadata: fc.record({ name: fc.constantFrom('apps', 'batch', 'policy', 'g.io', 'a.io') }), versions }),
  { selector: (g) => g.metadata.name ?? '', maxLength: 5 },
);

const core: fc.Arbitrary<GroupDiscovery[]> = versions.map((list) => [
  { metadata: {}, versions: list.filter((v) => v.version === 'v1') },
]);

/** Servers of one control plane that differ in any way, contradicting orders included. */
export const arbitraryServers: fc.Arbitrary<ServerSurface[]> = fc.uniqueArray(
  fc
    .record({
      identity: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      groups,
      core,
      kubernetesVersion: fc.constantFrom('v1.35.8', 'v1.36.4', 'v1.36.10', ''),
      departed: fc.boolean(),
    })
    .map((s) => server(s.identity, surfaceOf(s.groups, s.core, s.kubernetesVersion), s.departed)),
  { selector: (s) => s.identity, minLength: 1, maxLength: 4 },
);
