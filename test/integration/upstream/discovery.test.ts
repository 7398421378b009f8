import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORE_RESOURCE, NAMED_RESOURCES } from './conformant-resources.js';
import { HOSTS, type MixedMember, MixedPlane } from './mixed-plane.js';

/** The end-to-end tests of discovery.go, with legacy discovery of a mixed control plane: upstream merges none of it. */

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: { readonly name: string; readonly storageVersionHash?: string }[];
}
interface GroupVersion {
  readonly groupVersion: string;
}
interface Group {
  readonly name: string;
  readonly versions: GroupVersion[];
  readonly preferredVersion: GroupVersion;
}

describe.each(HOSTS)('discovery.go, %s host:', (host) => {
  let plane: MixedPlane;
  let both: readonly [MixedMember, MixedMember];
  beforeAll(async () => {
    plane = new MixedPlane(host);
    both = await plane.addTwo();
  });
  afterAll(() => plane.close());

  const legacy = (member: MixedMember, path: string) =>
    plane.ask(member, path, { headers: { Accept: 'application/json' } });
  const resourcesAt = async (member: MixedMember, path: string) => {
    const answer = await legacy(member, path);
    expect(answer.status, path).toBe(200);
    return answer.json<ResourceList>();
  };

  it('should accurately determine present and missing resources', async () => {
    for (const member of both) {
      const present = async (path: string) => (await resourcesAt(member, path)).resources.map(({ name }) => name);
      expect(await present('/api/v1')).toContain('namespaces');
      expect(await present('/apis/apps/v1')).toContain('deployments');
      expect(await present('/apis/apps/v1')).not.toContain('please-dont-ever-create-this');
      expect((await legacy(member, '/apis/not-these-apps/v1')).status).toBe(404);
    }
  });

  // Upstream compares with its own calculation. Here both servers must show what is shown for a built-in resource: a hash.
  it('Custom resource should have storage version hash', async () => {
    await plane.define(both[0], 'hash.example.com', 'testcrds');
    const hashes = [];
    for (const member of both) {
      await plane.served(member, '/apis/hash.example.com/v1');
      const { resources } = await resourcesAt(member, '/apis/hash.example.com/v1');
      hashes.push(resources.find(({ name }) => name === 'testcrds')!.storageVersionHash);
    }
    expect(hashes[0]).toMatch(/^[A-Za-z0-9+/]{11}=$/);
    expect(hashes[1]).toBe(hashes[0]);
  });

  it('should validate PreferredVersion for each APIGroup', async () => {
    for (const member of both) {
      const { groups } = (await legacy(member, '/apis/')).json<{ groups: Group[] }>();
      expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['apps', 'batch']));
      for (const { name } of groups.filter((group) => !group.name.endsWith('.example.com'))) {
        const { versions, preferredVersion } = (await legacy(member, `/apis/${name}/`)).json<Group>();
        expect(versions, name).toContainEqual(preferredVersion);
      }
    }
  });

  it('should locate the groupVersion and a resource within each APIGroup', async () => {
    for (const member of both)
      for (const each of [CORE_RESOURCE, ...NAMED_RESOURCES]) {
        const [group, version, resource] = each.split('/') as [string, string, string];
        const list = await resourcesAt(member, group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
        expect(list.groupVersion).toBe(group === '' ? version : `${group}/${version}`);
        expect(list.resources.map(({ name }) => name)).toContain(resource);
      }
  });
});
