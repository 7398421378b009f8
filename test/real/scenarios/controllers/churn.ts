import type { ApiClient } from '../../rig/api-client.js';
import { eventually } from '../../rig/eventually.js';
import { childrenOf, deployment, deployments } from './deployments.js';
import { isFurnished } from './namespaces.js';

const PATIENCE = { timeoutMs: 60_000 };
/** Rounds that run at a time. */
const LANES = 3;

/** Namespaces with deployments come, are scaled and go, until the time is over. Resolves to how many did. */
export async function churn(api: ApiClient, forMs: number): Promise<number> {
  const untilMs = Date.now() + forMs;
  let rounds = 0;
  const lane = async (number: number): Promise<void> => {
    while (Date.now() < untilMs) {
      await round(api, `churn-${number}-${rounds}`);
      rounds += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  return rounds;
}

async function round(api: ApiClient, namespace: string): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await isFurnished(api, namespace);
  const made = await api.create(deployments(namespace), deployment('web', 3));
  const [set] = await childrenOf(api, `/apis/apps/v1/namespaces/${namespace}/replicasets`, made, 1);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await childrenOf(api, pods, set!, 3);
  await api.mergePatch(`${deployments(namespace)}/web/scale`, { spec: { replicas: 6 } });
  await childrenOf(api, pods, set!, 6);
  await api.mergePatch(`${deployments(namespace)}/web`, {
    spec: { template: { metadata: { labels: { app: 'web', release: 'two' } } } },
  });
  await childrenOf(api, `/apis/apps/v1/namespaces/${namespace}/replicasets`, made, 2);
  await api.remove(`/api/v1/namespaces/${namespace}`);
  await eventually(
    `${namespace} is gone`,
    async () => !(await api.exists(`/api/v1/namespaces/${namespace}`)),
    PATIENCE,
  );
}
