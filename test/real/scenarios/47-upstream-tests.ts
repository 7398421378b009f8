import assert from 'node:assert/strict';
import { CORE_RESOURCE, NAMED_RESOURCES } from '../../integration/upstream/conformant-resources.js';
import { definitionOf, resourcesOf } from '../../integration/upstream/discovery-groups.js';
import { AGGREGATED_V2, type ControlPlane, type Layout, layoutOf, type Server } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call } from '../rig/http-client.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { job, jobsIn } from './watches/job-writer.js';

const NOPEER = `${AGGREGATED_V2};profile=nopeer`;
/** The Accept header with which client-go's aggregated discovery client asks: newest first, legacy last. */
const CLIENT_GO = `${AGGREGATED_V2},${AGGREGATED_V2.replace('v=v2;', 'v=v2beta1;')},application/json`;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const IDENTITY_LEASES = `${LEASES}?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dstraddle`;
const REQUESTS_AFTER_THE_KILL = 10;

/** By name and intent; docs/reference/upstream-tests.md has where Straddle differs. */
export const upstreamTests: Scenario = {
  number: 47,
  name: "Kubernetes' own integration tests of peer proxy and merged discovery, and the conformance tests of aggregated discovery",
  timeoutMs: 180_000,
  async run(context) {
    await context.plane.arrange(eachWithoutOneGroup());
    const namespace = await context.namespace();
    const tests: Readonly<Record<string, () => Promise<void>>> = {
      TestPeerProxiedRequest: () => peerProxiedRequest(context.plane, namespace),
      TestPeerAggregatedDiscovery: () => peerAggregatedDiscovery(context.plane),
      TestPeerAggregatedDiscoveryWithCRD: () => definitionComesAndGoes(context, 'foos.example.com', AGGREGATED_V2),
      'should support raw aggregated discovery endpoint Accept headers': () => conformant(context.plane, AGGREGATED_V2),
      'should support raw aggregated discovery request for CRDs': () =>
        definitionComesAndGoes(context, 'testcrds.raw.example.com', AGGREGATED_V2),
      'should support aggregated discovery interface': () => conformant(context.plane, CLIENT_GO),
      'should support aggregated discovery interface for CRDs': () =>
        definitionComesAndGoes(context, 'testcrds.client.example.com', CLIENT_GO),
      TestPeerProxiedRequestToThirdServerAfterFirstDies: () => toThirdServer(context.plane, namespace),
    };
    for (const [name, test] of Object.entries(tests)) {
      await test().catch((error: unknown) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      });
    }
  },
};

/** A without batch/v1, B without apps/v1: only merged discovery is complete. */
function eachWithoutOneGroup(): Layout {
  const { kube, straddle } = layoutOf('batch');
  const { b } = kube;
  assert.ok(b !== undefined);
  return { straddle, kube: { ...kube, b: { ...b, flags: [...b.flags, '--runtime-config=apps/v1=false'] } } };
}

async function peerProxiedRequest({ a, b }: ControlPlane, namespace: string): Promise<void> {
  const jobs = jobsIn(namespace);
  assert.equal((await call(a.kube.admin, jobs)).status, 404, 'A itself must not serve jobs');
  await created(b, jobs, job('test-job'));
  assert.deepEqual(await names(a, jobs), ['test-job']);
}

/** B dies; C must answer every request through A, from the first. */
async function toThirdServer({ a, b }: ControlPlane, namespace: string): Promise<void> {
  const jobs = jobsIn(namespace);
  await created(b, jobs, job('of-the-first'));
  await Promise.all([b.kube.kill(), b.straddle.kill()]);
  for (let i = 0; i < REQUESTS_AFTER_THE_KILL; i++) {
    assert.deepEqual(await names(a, jobs), ['of-the-first', 'test-job'], `request ${i} after B was killed`);
  }
}

async function peerAggregatedDiscovery({ a, b, all }: ControlPlane): Promise<void> {
  const leases = await call(a.straddle.admin, IDENTITY_LEASES);
  assert.equal(leases.json<{ items: unknown[] }>().items.length, all.length, 'CheckIdentityLeases');

  const [localA, localB] = [await resources(a, '/apis', NOPEER), await resources(b, '/apis', NOPEER)];
  const has = (found: readonly string[]) =>
    ['apps/v1/deployments', 'batch/v1/jobs'].map((each) => found.includes(each));
  assert.deepEqual(
    [has(localA), has(localB)],
    [
      [true, false],
      [false, true],
    ],
    'NoPeerDiscoveryWorks',
  );

  const documents = await Promise.all(all.map((server) => discovery(server, '/apis', AGGREGATED_V2)));
  for (const document of documents) {
    assert.deepEqual(has(resourcesOf(document)), [true, true], 'PeerAggregatedDiscoveryEndpoint');
    assert.equal(document.text, documents[0]?.text, 'PeerAggregatedDiscoveryEndpoint: the same bytes everywhere');
  }
}

/** Made through A, shown by all; deleted through A, shown by none, in neither view. */
async function definitionComesAndGoes({ plane, defer }: ScenarioContext, name: string, accept: string): Promise<void> {
  const [plural, ...rest] = name.split('.') as [string, ...string[]];
  const resource = `${rest.join('.')}/v1/${plural}`;
  const remove = () => call(plane.a.straddle.admin, `${DEFINITIONS}/${name}`, { method: 'DELETE' });
  const shown = (wanted: boolean, media: string) =>
    Promise.all(
      plane.all.map((server) =>
        eventually(
          `${server.name} ${wanted ? 'shows' : 'no longer shows'} ${resource}`,
          async () => (await resources(server, '/apis', media)).includes(resource) === wanted,
        ),
      ),
    );
  await created(plane.a, DEFINITIONS, definitionOf(rest.join('.'), plural, 'TestCrd'));
  defer(remove);
  await shown(true, accept);
  assert.equal((await remove()).status, 200);
  await shown(false, accept);
  await shown(false, NOPEER);
}

async function conformant({ all }: ControlPlane, accept: string): Promise<void> {
  for (const server of all) {
    const found = [...(await resources(server, '/api', accept)), ...(await resources(server, '/apis', accept))];
    const missing = [CORE_RESOURCE, ...NAMED_RESOURCES].filter((each) => !found.includes(each));
    assert.deepEqual(missing, [], `missing in the discovery of ${server.name}`);
  }
}

async function discovery(server: Server, path: string, accept: string): Promise<Answer> {
  const answer = await call(server.straddle.admin, path, { headers: { accept } });
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(answer.headers['content-type']), /;v=v2;as=APIGroupDiscoveryList/);
  return answer;
}

async function resources(server: Server, path: string, accept: string): Promise<string[]> {
  return resourcesOf(await discovery(server, path, accept));
}

async function created(server: Server, path: string, body: object): Promise<void> {
  const answer = await call(server.straddle.admin, path, { method: 'POST', body });
  assert.equal(answer.status, 201, answer.text);
}

async function names(server: Server, path: string): Promise<string[]> {
  const answer = await call(server.straddle.admin, path);
  assert.equal(answer.status, 200, answer.text);
  const { items } = answer.json<{ items: { metadata: { name: string } }[] }>();
  return items.map(({ metadata }) => metadata.name).sort();
}
