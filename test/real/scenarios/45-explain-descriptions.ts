import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ownTables } from '../../../src/apiserver/descriptions/descriptions.js';
import { loadDescriptionsFile } from '../../../src/apiserver/descriptions/parse-descriptions.js';
import { sharedSentences } from '../../../src/apiserver/descriptions/shared-sentences.fixture.js';
import { type Pair, pairPrograms, startPair } from '../golden/pair.js';
import { eventually } from '../rig/eventually.js';
import { call, type Endpoint } from '../rig/http-client.js';
import { writeKubeconfig } from '../rig/kubeconfig.js';
import { Kubectl } from '../rig/kubectl.js';
import { runStraddle } from '../rig/straddle.js';
import type { Scenario } from '../scenario.js';
import { describedPlaces } from './described-places.js';

const DESCRIBED = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** A definition without any description. */
const GADGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.test' },
  spec: {
    group: 'example.test',
    names: { plural: 'gadgets', kind: 'Gadget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                },
              },
              status: { type: 'object', properties: { ready: { type: 'boolean' } } },
            },
          },
        },
      },
    ],
  },
};
/** Each prints the same of both servers once the descriptions of the one are served by the other. */
const EXPLAINED = [
  'deployment --recursive=false',
  'deployment',
  'deployment.spec.strategy.rollingUpdate',
  'deployment.metadata.managedFields',
  'pod.spec.containers',
  'pod.spec.containers.imagePullPolicy',
  'node.status',
  'hpa --api-version=autoscaling/v2',
  'event.series --api-version=events.k8s.io/v1',
  'networkpolicies.spec.egress --output=plaintext-openapiv2',
  'crd.spec.versions.schema',
  'gadget',
  'gadget.metadata',
];

export const explainDescriptions: Scenario = {
  number: 45,
  name: 'kubectl explain prints descriptions in Straddle’s own words, or those captured from a kube-apiserver',
  timeoutMs: 240_000,
  programs: pairPrograms,
  async run({ plane, defer }) {
    const pair = await startPair(plane.dir);
    defer(() => pair.stop());
    const kubeconfig = join(pair.dir, 'kubeconfig');
    writeKubeconfig(kubeconfig, {
      pki: pair.pki,
      clusters: { real: pair.real.url, ours: pair.ours.url },
      current: 'real',
    });
    const kubectl = new Kubectl(kubeconfig, pair.dir, 'v1.36.4');
    for (const endpoint of [pair.real.admin, pair.ours.admin]) await define(endpoint);
    for (const kind of ['deployment', 'gadget']) describes(kind, await explain(kubectl, 'ours', kind));

    const file = join(pair.dir, 'descriptions.json');
    const captured = runStraddle(
      'surface',
      'capture',
      '--descriptions',
      `--kubeconfig=${kubeconfig}`,
      `--output=${file}`,
    );
    assert.equal(captured.code, 0, captured.stderr);
    assert.deepEqual(sharedSentences(ownTables(), await loadDescriptionsFile(file)), [], 'sentences of Kubernetes');

    await pair.ours.stop();
    await pair.ours.start(undefined, { 'descriptions-file': file });
    await isReady(pair.ours.admin);
    for (const args of EXPLAINED) {
      assert.equal(await explain(kubectl, 'ours', args), await explain(kubectl, 'real', args), `explain ${args}`);
    }
    await documentsAreDescribedAlike(pair);
  },
};

async function define(endpoint: Endpoint): Promise<void> {
  const made = await call(endpoint, DEFINITIONS, { method: 'POST', body: GADGETS });
  assert.equal(made.status, 201, made.text);
  await isReady(endpoint);
}

async function isReady(endpoint: Endpoint): Promise<void> {
  await eventually('OpenAPI has the custom resource', async () => {
    const { status } = await call(endpoint, '/openapi/v3/apis/example.test/v1');
    return status === 200;
  });
}

function explain(kubectl: Kubectl, context: string, args: string): Promise<string> {
  return kubectl.run({ context }, 'explain', ...args.split(' '));
}

/** The lines after that of a field are its description. */
function describes(kind: string, text: string): void {
  assert.doesNotMatch(text, /<no description>/, `explain ${kind}`);
  for (const field of DESCRIBED) {
    assert.match(text, new RegExp(`^  ${field}\\t<\\w+>\\n {4}\\w`, 'm'), `${field} in explain ${kind}:\n${text}`);
  }
}

/** Every type, field and parameter of every document of built-in resources: kubectl explains some of them only. */
async function documentsAreDescribedAlike({ real, ours }: Pair): Promise<void> {
  const index = await call(real.admin, '/openapi/v3');
  const paths = Object.keys(index.json<{ paths: Record<string, object> }>().paths);
  const differing: string[] = [];
  let described = 0;
  for (const path of paths.filter((each) => /^apis?(\/|$)/.test(each) && !each.includes('example.test'))) {
    const [theirs, mine] = await Promise.all([real, ours].map(({ admin }) => describedBy(admin, path)));
    described += theirs!.size;
    for (const [place, text] of theirs!) {
      if (mine!.get(place) !== text) differing.push(`${path} ${place}: ${text} | ${mine!.get(place)}`);
    }
  }
  assert.deepEqual(differing.slice(0, 20), [], `${differing.length} of ${described} descriptions differ`);
  assert.ok(described > 10_000, `only ${described} descriptions in ${paths.length} documents`);
}

async function describedBy(endpoint: Endpoint, path: string): Promise<Map<string, string>> {
  const answer = await call(endpoint, `/openapi/v3/${path}`);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`);
  return describedPlaces(answer.json());
}
