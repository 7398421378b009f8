import assert from 'node:assert/strict';
import { chosenServers } from '../rig/chosen-servers.js';
import { AGGREGATED_V2, type Layout } from '../rig/control-plane.js';
import { eventually, GiveUp } from '../rig/eventually.js';
import { call, type Endpoint } from '../rig/http-client.js';
import { newerSettings, olderSettings } from '../rig/skew.js';
import type { Scenario } from '../scenario.js';
import { createNewer } from './newer-api.js';

/** A and B with kube-apiserver's own mixed version proxy on; only A behind a Straddle; only A serves batch/v1. */
function layout(): Layout {
  const { a, b } = chosenServers();
  const newer = newerSettings(b);
  return {
    kube: {
      a: { ...olderSettings(a), native: true },
      b: { ...newer, native: true, flags: [...newer.flags, '--runtime-config=batch/v1=false'] },
      c: undefined,
    },
    straddle: { a: {}, b: undefined, c: undefined },
  };
}

/** The native feature looks at its peers at its own pace. */
const NATIVE_TIMEOUT_MS = 60_000;

export const nativeInterplay: Scenario = {
  number: 10,
  name: 'native feature on in A and B, only A behind Straddle: both reroute, no loops, merged discovery of both kinds agrees',
  async run({ plane, namespace }) {
    await plane.arrange(layout());
    const ns = await namespace();
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    const straddle = plane.a.straddle.admin;
    const newerObjectPath = await createNewer(plane.b.kube.admin, ns, 'on-b');

    await eventually('A’s Straddle reroutes to B', async () => (await call(straddle, newerObjectPath)).status === 200);
    await eventually(
      'B’s native proxy reroutes to A',
      async () => (await call(plane.b.kube.admin, jobs)).status === 200,
      {
        timeoutMs: NATIVE_TIMEOUT_MS,
      },
    );
    await servedOnce({ endpoint: straddle, path: newerObjectPath });
    await servedOnce({ endpoint: plane.b.kube.admin, path: jobs });

    await eventually(
      'merged discovery of both kinds agrees',
      async () => {
        const [ours, natives] = await Promise.all([resources(straddle), resources(plane.b.kube.admin)]);
        assert.deepEqual(ours, natives);
        return true;
      },
      { timeoutMs: NATIVE_TIMEOUT_MS, intervalMs: 500 },
    );

    // What nobody serves must come back as a 404, not go round; a 503 only while C, which has left, might have had it.
    await eventually(
      'what nobody serves is a 404',
      async () => {
        const { status } = await call(straddle, `/apis/nowhere.example.test/v1/namespaces/${ns}/things`);
        if (status !== 404 && status !== 503) throw new GiveUp(`answered ${status}`);
        return status === 404;
      },
      { timeoutMs: NATIVE_TIMEOUT_MS },
    );

    async function servedOnce({ endpoint, path }: { endpoint: Endpoint; path: string }): Promise<void> {
      const servers = [plane.a, plane.b];
      const positions = servers.map(({ kube }) => kube.auditPosition());
      assert.equal((await call(endpoint, path)).status, 200);
      const seen = servers.flatMap(({ name, kube }, index) =>
        kube
          .auditSince(positions[index] ?? 0)
          .filter(({ requestURI }) => requestURI === path)
          .map(() => name),
      );
      assert.ok(new Set(seen).size === seen.length, `${path} went round: ${seen.join(' → ')}`);
    }
  },
};

/** Every group-version with its resources, in the order of their names. */
async function resources(endpoint: Endpoint): Promise<string[]> {
  const answer = await call(endpoint, '/apis', { headers: { accept: AGGREGATED_V2 } });
  const { items } = answer.json<{
    items: { metadata: { name: string }; versions: { version: string; resources: { resource: string }[] }[] }[];
  }>();
  return items
    .flatMap(({ metadata, versions }) =>
      versions.flatMap((each) => each.resources.map(({ resource }) => `${metadata.name}/${each.version}/${resource}`)),
    )
    .sort();
}
