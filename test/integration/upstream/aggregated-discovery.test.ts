import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGGREGATED, eventually } from '../control-plane.js';
import { CORE_RESOURCE, NAMED_RESOURCES } from './conformant-resources.js';
import { resourcesOf } from './discovery-groups.js';
import { HOSTS, type MixedMember, MixedPlane } from './mixed-plane.js';

/**
 * The conformance tests of aggregated_discovery.go, against both servers of a mixed control plane: neither serves all
 * resources, so that only merged discovery can pass.
 */

/** The Accept header with which client-go's aggregated discovery client asks: newest first, legacy last. */
const CLIENT_GO = `${AGGREGATED},${AGGREGATED.replace('v=v2;', 'v=v2beta1;')},application/json`;

describe.each(HOSTS)('aggregated_discovery.go, %s host:', (host) => {
  let plane: MixedPlane;
  let both: readonly [MixedMember, MixedMember];
  beforeAll(async () => {
    plane = new MixedPlane(host);
    both = await plane.addTwo();
  });
  afterAll(() => plane.close());

  const showsDefinition = async (madeAt: MixedMember, group: string, accept: string) => {
    await plane.define(madeAt, group, 'testcrds');
    for (const member of both)
      await eventually(
        `the resource of the definition in the discovery of ${member.name}`,
        () => plane.discovery(member, accept),
        (answer) => resourcesOf(answer).includes(`${group}/v1/testcrds`),
      );
  };

  it('should support raw aggregated discovery endpoint Accept headers', async () => {
    for (const member of both) {
      expect(resourcesOf(await plane.discovery(member))).toEqual(expect.arrayContaining([...NAMED_RESOURCES]));
      expect(resourcesOf(await plane.discovery(member, AGGREGATED, '/api'))).toContain(CORE_RESOURCE);
    }
  });

  it('should support raw aggregated discovery request for CRDs', () =>
    showsDefinition(both[0], 'raw.example.com', AGGREGATED));

  it('should support aggregated discovery interface', async () => {
    for (const member of both) {
      const [core, named] = [
        await plane.discovery(member, CLIENT_GO, '/api'),
        await plane.discovery(member, CLIENT_GO),
      ];
      expect([core.headers['content-type'], named.headers['content-type']]).toEqual([AGGREGATED, AGGREGATED]);
      expect(resourcesOf(core)).toContain(CORE_RESOURCE);
      expect(resourcesOf(named)).toEqual(expect.arrayContaining([...NAMED_RESOURCES]));
    }
  });

  it('should support aggregated discovery interface for CRDs', () =>
    showsDefinition(both[1], 'client.example.com', CLIENT_GO));
});
