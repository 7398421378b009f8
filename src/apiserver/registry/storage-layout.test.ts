import { describe, expect, it } from 'vitest';
import { loadSurface } from '../surfaces/load-surface.js';
import { shippedVersions } from '../surfaces/shipped-versions.js';
import { isBuiltInName } from './built-in-names.js';
import { builtInPrefix, customResourcePrefix, ReservedPrefixError } from './storage-layout.js';

async function shippedNames(): Promise<{ group: string; resource: string }[]> {
  const surfaces = await Promise.all(shippedVersions().map(loadSurface));
  const names = surfaces.flatMap(({ groups }) =>
    groups.flatMap((group) =>
      group.versions.flatMap(({ resources }) => resources.map(({ name }) => ({ group: group.name, resource: name }))),
    ),
  );
  expect(names.length).toBeGreaterThan(200);
  return names;
}

describe('the storage layout', () => {
  it('never changes the prefix of a built-in resource that has objects in existing stores', () => {
    const prefixes = [
      { group: '', resource: 'pods' },
      { group: 'apps', resource: 'deployments' },
      { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
      { group: 'scheduling.k8s.io', resource: 'podgroups' },
    ].map(builtInPrefix);
    expect(prefixes).toEqual([
      '/registry/pods/',
      '/registry/apps/deployments/',
      '/registry/rbac.authorization.k8s.io/clusterroles/',
      '/registry/scheduling.k8s.io/podgroups/',
    ]);
    expect(customResourcePrefix({ group: 'example.com', resource: 'widgets' })).toBe('/registry/example.com/widgets/');
  });

  it('lists every resource of the surfaces that ship with Straddle among the built-in names', async () => {
    const dotted = (await shippedNames()).filter(({ group }) => group.includes('.'));
    expect(dotted.filter((each) => !isBuiltInName(each))).toEqual([]);
  });

  it('has no custom resource prefix that overlaps the prefix of a built-in resource of any version', async () => {
    const future = [
      { group: 'storage.k8s.io', resource: 'futures' },
      { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshots' },
      { group: '', resource: 'futures' },
      { group: 'futures', resource: 'pods' },
    ];
    const builtIn = [...(await shippedNames()), ...future];
    const reserved = builtIn.map(builtInPrefix);
    const groups = new Set([...builtIn.map(({ group }) => group), 'pods', 'built-in', 'registry.pods', 'pods.example']);
    const plurals = new Set([...builtIn.map(({ resource }) => resource), 'default', 'kube-system', 'storage-k8s-io']);
    const overlapping: string[] = [];
    for (const group of groups) {
      for (const resource of plurals) {
        const prefix = prefixOrNone({ group, resource });
        if (prefix === undefined) continue;
        if (reserved.some((each) => each.startsWith(prefix) || prefix.startsWith(each))) overlapping.push(prefix);
      }
    }
    expect(overlapping).toEqual([]);
  });

  it('keeps custom resources apart from a resource of the same name that became built in later', () => {
    const name = { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshots' };
    expect(customResourcePrefix(name)).toBe('/registry/snapshot.storage.k8s.io/volumesnapshots/');
    expect(builtInPrefix(name)).toBe('/registry/built-in/snapshot.storage.k8s.io/volumesnapshots/');
  });
});

function prefixOrNone(name: { group: string; resource: string }): string | undefined {
  try {
    return customResourcePrefix(name);
  } catch (error) {
    if (error instanceof ReservedPrefixError) return undefined;
    throw error;
  }
}
