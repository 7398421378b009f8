import assert from 'node:assert/strict';
import { chosenServers, type ServerVersions } from '../rig/chosen-servers.js';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { call, type KubeObject } from '../rig/http-client.js';
import type { Skew } from '../rig/skew.js';
import { type ResourceName, servedBy } from '../rig/surface-of.js';
import { oldestEmulated, RESIZE_SINCE } from '../rig/version-facts.js';
import type { Scenario } from '../scenario.js';
import { Skipped } from '../scenario.js';
import { pod } from './pod.js';

/** A subresource that only B and C serve, of a resource that A serves too. */
interface NewerSubresource {
  readonly api: ResourceName;
  readonly skew: Skew;
  isMissingAt(servers: ServerVersions): boolean;
  readonly object: KubeObject;
  /** How kubectl names the object. */
  readonly kubectlName: readonly [string, string];
  collection(namespace: string): string;
  patch(value: string): object;
  valueIn(object: KubeObject): unknown;
  readonly values: readonly [string, string];
}

const RESIZE: NewerSubresource = {
  api: { group: '', version: 'v1', resource: 'pods/resize' },
  skew: 'wide',
  isMissingAt: ({ a }) => oldestEmulated(a) < RESIZE_SINCE,
  object: pod('resized', '100m'),
  kubectlName: ['pod', 'resized'],
  collection: (namespace) => `/api/v1/namespaces/${namespace}/pods`,
  patch: (cpu) => ({ spec: { containers: [{ name: 'main', resources: { requests: { cpu }, limits: { cpu } } }] } }),
  valueIn: (object) => object['spec'].containers[0].resources.requests.cpu,
  values: ['200m', '300m'],
};

const DRIVER = 'driver.example.test';
const CSI_NODE_STATUS: NewerSubresource = {
  api: { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes/status' },
  skew: 'default',
  isMissingAt({ a, b, c }) {
    const [atA, atB, atC] = [a, b, c].map((version) => servedBy(version, this.api));
    return atA === undefined && atB === 'by default' && atC === 'by default';
  },
  object: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'healthy' },
    spec: { drivers: [{ name: DRIVER, nodeID: 'one' }] },
  },
  kubectlName: ['csinode', 'healthy'],
  collection: () => '/apis/storage.k8s.io/v1/csinodes',
  patch: (reason) => ({
    status: { storageHealth: [{ name: DRIVER, healthConditions: [{ status: 'StorageDegraded', reason }] }] },
  }),
  valueIn: (object) => object['status'].storageHealth[0].healthConditions[0].reason,
  values: ['Slow', 'Slower'],
};

export const subresourceReroute: Scenario = {
  number: 3,
  name: 'PATCH of pods/resize or csinodes/status through a server without that subresource reaches one that has it',
  async run({ plane, namespace, defer }) {
    const servers = chosenServers();
    const cases = [CSI_NODE_STATUS, RESIZE].filter((each) => each.isMissingAt(servers));
    if (cases.length === 0) {
      throw new Skipped(`A (${servers.a}) serves, or emulates a version that serves, csinodes/status and pods/resize`);
    }
    for (const each of cases) {
      await plane.arrange(layoutOf(each.skew));
      const path = `${each.collection(await namespace())}/${each.object.metadata?.name}`;
      defer(() => call(plane.b.kube.admin, path, { method: 'DELETE' }));
      await reaches(plane, each, path);
    }
  },
};

async function reaches(plane: ControlPlane, subresource: NewerSubresource, path: string): Promise<void> {
  const { api, object, kubectlName, values, patch, valueIn } = subresource;
  const collection = path.slice(0, path.lastIndexOf('/'));
  const created = await call(plane.a.straddle.admin, collection, { method: 'POST', body: object });
  assert.equal(created.status, 201, created.text);

  const [, name = ''] = api.resource.split('/');
  const request = {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: patch(values[0]),
  };
  const straight = await call(plane.a.kube.admin, `${path}/${name}`, request);
  assert.equal(straight.status, 404, `A itself must not know ${api.resource}`);

  const positions = plane.all.map(({ kube }) => kube.auditPosition());
  const through = await call(plane.a.straddle.admin, `${path}/${name}`, request);
  assert.equal(through.status, 200, through.text);
  assert.equal(valueIn(through.json()), values[0]);
  const served = plane.all.flatMap((server, index) =>
    server.kube
      .auditSince(positions[index] ?? 0)
      .filter(({ verb, requestURI }) => verb === 'patch' && requestURI.includes(`/${name}`))
      .map(({ user }) => `${server.name === 'a' ? 'a' : 'b or c'} as ${user.username}`),
  );
  assert.deepEqual(served, ['b or c as rig-admin']);

  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  const kubectl = await plane.kubectl.run(
    { context: 'straddle-a' },
    ...(namespace === undefined ? [] : ['-n', namespace]),
    ...['patch', ...kubectlName, `--subresource=${name}`, '--type=strategic', '-p', JSON.stringify(patch(values[1]))],
  );
  assert.match(kubectl, /patched/);
}
