import assert from 'node:assert/strict';
import { type ApiClient, metadataOf, type PropagationPolicy } from '../../rig/api-client.js';
import { eventually } from '../../rig/eventually.js';
import type { KubeObject } from '../../rig/http-client.js';

const NAMESPACE = 'deployments';
const PATIENCE = { timeoutMs: 30_000 };

const pods = (namespace = NAMESPACE): string => `/api/v1/namespaces/${namespace}/pods`;
const replicaSets = (namespace = NAMESPACE): string => `/apis/apps/v1/namespaces/${namespace}/replicasets`;
export const deployments = (namespace = NAMESPACE): string => `/apis/apps/v1/namespaces/${namespace}/deployments`;

/** A Deployment from its first pod to its end, in each of the three ways to end it. */
export async function deploymentLife(api: ApiClient): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await eventually('its default account', () => api.exists(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`));
  await growsAndShrinks(api);
  await rolls(api);
  await ends(api, 'Background');
  await ends(api, 'Foreground');
  await endsButLeavesChildren(api);
}

async function growsAndShrinks(api: ApiClient): Promise<void> {
  const made = await api.create(deployments(), deployment('web', 2));
  const [set] = await childrenOf(api, replicaSets(), made, 1);
  await childrenOf(api, pods(), set!, 2);
  await api.mergePatch(`${deployments()}/web/scale`, { spec: { replicas: 4 } });
  await childrenOf(api, pods(), set!, 4);
  await observed(api, 'web', ({ replicas }) => replicas === 4);
  await api.mergePatch(`${deployments()}/web/scale`, { spec: { replicas: 1 } });
  await childrenOf(api, pods(), set!, 1);
}

/** Pods get ready by this scenario's hand: there is no kubelet. */
async function rolls(api: ApiClient): Promise<void> {
  const made = await api.get(`${deployments()}/web`);
  await api.mergePatch(`${deployments()}/web`, {
    spec: { template: { metadata: { labels: { app: 'web', release: 'two' } } } },
  });
  const sets = await childrenOf(api, replicaSets(), made, 2);
  const newer = sets.find(({ metadata }) => metadata?.labels?.['release'] === 'two') ?? assert.fail('no second set');
  for (const pod of await childrenOf(api, pods(), newer, 1)) await makeReady(api, pod);
  await observed(
    api,
    'web',
    ({ updatedReplicas, availableReplicas }) => updatedReplicas === 1 && availableReplicas === 1,
  );
  const older = sets.find(({ metadata }) => metadata?.uid !== newer.metadata?.uid)!;
  await childrenOf(api, pods(), older, 0);
  const history = await api.get(`${replicaSets()}/${newer.metadata?.name}`);
  assert.equal(history.metadata?.annotations?.['deployment.kubernetes.io/revision'], '2');
}

async function ends(api: ApiClient, policy: Exclude<PropagationPolicy, 'Orphan'>): Promise<void> {
  const name = `ends-in-${policy.toLowerCase()}`;
  const { made, set } = await running(api, name);
  await api.remove(`${deployments()}/${name}`, policy);
  if (policy === 'Foreground') {
    const marked = (await api.list(deployments())).find(({ metadata }) => metadata?.name === name);
    const finalizers: string[] = metadataOf(marked).finalizers ?? ['foregroundDeletion'];
    assert.deepEqual(finalizers, ['foregroundDeletion'], 'it waits for its children');
  }
  await eventually('it is gone', async () => !(await api.exists(`${deployments()}/${name}`)), PATIENCE);
  await childrenOf(api, replicaSets(), made, 0);
  await childrenOf(api, pods(), set, 0);
}

async function endsButLeavesChildren(api: ApiClient): Promise<void> {
  const { set } = await running(api, 'orphans');
  await api.remove(`${deployments()}/orphans`, 'Orphan');
  await eventually('it is gone', async () => !(await api.exists(`${deployments()}/orphans`)), PATIENCE);
  const left = await api.get(`${replicaSets()}/${set.metadata?.name}`);
  assert.deepEqual(metadataOf(left).ownerReferences ?? [], [], 'nobody owns it any longer');
  await childrenOf(api, pods(), set, 2);
  await api.remove(`${replicaSets()}/${set.metadata?.name}`);
  await childrenOf(api, pods(), set, 0);
}

async function running(api: ApiClient, name: string): Promise<{ made: KubeObject; set: KubeObject }> {
  const made = await api.create(deployments(), deployment(name, 2));
  const [set] = await childrenOf(api, replicaSets(), made, 1);
  await childrenOf(api, pods(), set!, 2);
  return { made, set: set! };
}

/** Waits until exactly so many objects name this one as their controller. */
export function childrenOf(
  api: ApiClient,
  collection: string,
  owner: KubeObject,
  count: number,
): Promise<KubeObject[]> {
  return eventually(
    `${count} of ${collection} belong to ${owner.metadata?.name}`,
    async () => {
      const found = (await api.list(collection)).filter((child) => {
        const references = metadataOf(child).ownerReferences ?? [];
        return references.some(({ uid }) => uid === owner.metadata?.uid);
      });
      if (found.length !== count) throw new Error(`there are ${found.length}`);
      return found;
    },
    PATIENCE,
  );
}

function observed(api: ApiClient, name: string, holds: (status: KubeObject) => boolean): Promise<boolean> {
  return eventually(
    `the status of ${name} says so`,
    async () => {
      const found = await api.get(`${deployments()}/${name}`);
      const status = found['status'];
      if (status.observedGeneration === metadataOf(found).generation && holds(status)) return true;
      throw new Error(JSON.stringify(status));
    },
    PATIENCE,
  );
}

async function makeReady(api: ApiClient, pod: KubeObject): Promise<void> {
  const since = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  await api.mergePatch(`${pods(pod.metadata?.namespace)}/${pod.metadata?.name}/status`, {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
  });
}

export function deployment(name: string, replicas: number): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, release: 'one' } },
        spec: { containers: [{ name: 'main', image: 'example.test/nothing' }] },
      },
    },
  };
}
