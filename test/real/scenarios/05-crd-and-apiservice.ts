import assert from 'node:assert/strict';
import { SAMPLE_APISERVER } from '../rig/binaries.js';
import { eventually } from '../rig/eventually.js';
import { call, type KubeObject } from '../rig/http-client.js';
import { AGGREGATED_V2, layoutOf, type Plane, type ServerName } from '../rig/plane.js';
import { startSampleApiserver } from '../rig/sample-apiserver.js';
import { StatusTrail } from '../rig/status-trail.js';
import type { Scenario, ScenarioContext } from '../scenario.js';

const LIMIT_MS = 5_000;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

export const cameAndWent = {
  number: 5,
  name: 'a CRD and an APIService (real sample-apiserver) show through all Straddles within 5 s, go within 5 s, no wrong answer between',
  programs: () => [SAMPLE_APISERVER],
  async run(context: ScenarioContext<Plane>) {
    const { plane } = context;
    await plane.arrange(layoutOf('default'));
    const ns = await context.namespace();
    for (const server of plane.all) {
      await comesAndGoes(context, {
        group: `${server.name}.example.test`,
        version: 'v1',
        resource: `widgets`,
        collection: `/apis/${server.name}.example.test/v1/namespaces/${ns}/widgets`,
        object: { apiVersion: `${server.name}.example.test/v1`, kind: 'Widget', metadata: { name: 'one' }, size: 3 },
        register: () => must(plane, server.name, 'POST', CRDS, widgetDefinition(`${server.name}.example.test`)),
        unregister: () => must(plane, server.name, 'DELETE', `${CRDS}/widgets.${server.name}.example.test`),
      });
    }
    await aggregatedApi(context, ns);
  },
} satisfies Scenario;

async function aggregatedApi(context: ScenarioContext<Plane>, ns: string): Promise<void> {
  const { plane } = context;
  const sample = await startSampleApiserver({
    dir: plane.dir,
    pki: plane.pki,
    etcdUrl: plane.etcd.url,
    kubeconfig: plane.kubeconfig,
    namespace: ns,
  });
  context.defer(() => sample.process.stop());
  const { port } = sample.apiService['spec'].service;
  await eventually('the sample-apiserver answers', async () => {
    const answer = await call({ url: `https://127.0.0.31:${port}`, ca: plane.pki.ca.certPem }, '/readyz');
    return answer.status === 200;
  });
  await must(plane, 'b', 'POST', `/api/v1/namespaces/${ns}/services`, sample.service);
  await comesAndGoes(context, {
    group: 'wardle.example.com',
    version: 'v1alpha1',
    resource: 'flunders',
    collection: `/apis/wardle.example.com/v1alpha1/namespaces/${ns}/flunders`,
    object: { apiVersion: 'wardle.example.com/v1alpha1', kind: 'Flunder', metadata: { name: 'one' } },
    register: () => must(plane, 'a', 'POST', APISERVICES, sample.apiService),
    unregister: () => must(plane, 'c', 'DELETE', `${APISERVICES}/v1alpha1.wardle.example.com`),
  });
}

interface Newcomer {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly collection: string;
  readonly object: KubeObject;
  register(): Promise<void>;
  unregister(): Promise<void>;
}

async function comesAndGoes({ plane, defer }: ScenarioContext<Plane>, newcomer: Newcomer): Promise<void> {
  // 503 and 429 (a kube-apiserver that still sets up the storage) say "wait", which is never wrong; a 200 must be a list.
  const honest = (status: number, text: string): boolean =>
    [404, 429, 503].includes(status) || (status === 200 && /"kind":"\w+List"/.test(text));
  const trails = plane.all.map(({ straddle }) => new StatusTrail(straddle.admin, newcomer.collection, honest));
  defer(() => Promise.all(trails.map((trail) => trail.stop())));
  await eventually('every trail has begun', () => trails.every(({ current }) => current === '404'));

  await newcomer.register();
  await Promise.all([
    eventually('usable through all', () => trails.every(({ current }) => current === '200'), { timeoutMs: LIMIT_MS }),
    listed(plane, newcomer, true),
  ]);
  await usableThroughAll(plane, newcomer);

  await newcomer.unregister();
  await Promise.all([
    eventually('gone through all', () => trails.every(({ current }) => current === '404'), { timeoutMs: LIMIT_MS }),
    listed(plane, newcomer, false),
  ]);
  await Promise.all(trails.map((trail) => trail.stop()));
  for (const [index, trail] of trails.entries()) {
    const where = `${newcomer.group} through ${plane.all[index]?.name}`;
    assert.deepEqual(trail.wrong, [], where);
    assert.deepEqual(
      definiteAnswers(trail),
      ['404', '200', '404'],
      `${where}: it flapped: ${trail.changes.join(', ')}`,
    );
  }
}

/** Without the answers that say "wait"; 404, 503, 404 while a server still sets the resource up is one 404. */
function definiteAnswers({ changes }: StatusTrail): string[] {
  const definite = changes.filter((status) => status === '404' || status === '200');
  return definite.filter((status, index) => status !== definite[index - 1]);
}

function listed(plane: Plane, { group, version, resource }: Newcomer, wanted: boolean): Promise<boolean> {
  return eventually(
    `merged discovery of every Straddle ${wanted ? 'lists' : 'no longer lists'} ${resource}.${group}`,
    async () => {
      const answers = await Promise.all(
        plane.all.map(({ straddle }) => call(straddle.admin, '/apis', { headers: { accept: AGGREGATED_V2 } })),
      );
      return answers.every((answer) => {
        const { items } = answer.json<{ items: DiscoveredGroup[] }>();
        const found = items.find(({ metadata }) => metadata.name === group);
        const entry = found?.versions.find((each) => each.version === version);
        return wanted ? entry?.resources?.some((each) => each.resource === resource) : entry === undefined;
      });
    },
    { timeoutMs: LIMIT_MS },
  );
}

interface DiscoveredGroup {
  readonly metadata: { readonly name: string };
  readonly versions: readonly { readonly version: string; readonly resources?: readonly { resource: string }[] }[];
}

async function usableThroughAll(plane: Plane, { collection, object }: Newcomer): Promise<void> {
  const created = await call(plane.a.straddle.admin, collection, { method: 'POST', body: object });
  assert.equal(created.status, 201, created.text);
  for (const { straddle } of plane.all) {
    const got = await call(straddle.admin, `${collection}/${object.metadata?.name}`);
    assert.equal(got.json().metadata?.uid, created.json().metadata?.uid, got.text);
  }
  const deleted = await call(plane.c.straddle.admin, `${collection}/${object.metadata?.name}`, { method: 'DELETE' });
  assert.equal(deleted.status, 200, deleted.text);
}

async function must(
  plane: Plane,
  server: ServerName,
  method: 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<void> {
  const answer = await call(plane.servers[server].straddle.admin, path, { method, ...(body && { body }) });
  assert.ok(answer.status === 200 || answer.status === 201, `${method} ${path}: ${answer.status} ${answer.text}`);
}

function widgetDefinition(group: string): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
        },
      ],
    },
  };
}
