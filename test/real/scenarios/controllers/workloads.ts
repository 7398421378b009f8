import assert from 'node:assert/strict';
import type { ApiClient } from '../../rig/api-client.js';
import { eventually } from '../../rig/eventually.js';
import { childrenOf } from './deployments.js';

const NAMESPACE = 'workloads';
const PATIENCE = { timeoutMs: 30_000 };

/** The other controllers that make objects: they write with every verb, and read their own writes back. */
export async function otherWorkloads(api: ApiClient): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  await eventually('its default account', () => api.exists(`${core}/serviceaccounts/default`), PATIENCE);
  const apps = `/apis/apps/v1/namespaces/${NAMESPACE}`;
  const selector = { matchLabels: { app: 'x' } };
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'main', image: 'example.test/nothing' }] },
  };
  const set = await api.create(`${apps}/statefulsets`, {
    metadata: { name: 'ordered' },
    spec: { replicas: 2, serviceName: 'ordered', podManagementPolicy: 'Parallel', selector, template },
  });
  const members = await childrenOf(api, `${core}/pods`, set, 2);
  assert.deepEqual(members.map(({ metadata }) => metadata?.name).sort(), ['ordered-0', 'ordered-1']);
  const job = await api.create(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs`, {
    metadata: { name: 'once' },
    spec: { completions: 2, parallelism: 2, template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
  });
  for (const pod of await childrenOf(api, `${core}/pods`, job, 2)) {
    await api.mergePatch(`${core}/pods/${pod.metadata?.name}/status`, { status: { phase: 'Succeeded' } });
  }
  await eventually(
    'the job is complete',
    async () => {
      const { status } = await api.get(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs/once`);
      if (status.succeeded === 2 && status.completionTime !== undefined) return true;
      throw new Error(JSON.stringify(status));
    },
    PATIENCE,
  );
  await quota(api, core);
}

async function quota(api: ApiClient, core: string): Promise<void> {
  await api.create(`${core}/resourcequotas`, { metadata: { name: 'few' }, spec: { hard: { configmaps: '10' } } });
  await eventually(
    'the quota is counted',
    async () => (await api.get(`${core}/resourcequotas/few`))['status']?.used?.configmaps === '1',
    PATIENCE,
  );
}
