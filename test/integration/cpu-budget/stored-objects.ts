import { Agent } from 'node:https';
import type { Answer, Ask } from '../https-client.js';
import { WIDGET_DEFINITION } from './hostile-custom-resources.js';
import { DEFAULT_NAMESPACE, many, members } from './hostile-request.js';

type Send = (path: string, options?: Ask) => Promise<Answer>;

const CONFIG_MAPS = `${DEFAULT_NAMESPACE}/configmaps`;
const OBJECTS = 10_000;
const AT_ONCE = 16;

/** Objects that the corpus works on: many, and some as large as the store takes them. */
export async function storeObjects(send: Send): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const store = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await send(path, { method: 'POST', body, agent });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text.slice(0, 500)}`);
  };
  const container = (index: number) => ({ name: `c${index}`, image: 'i' });
  await store('/api/v1/namespaces', { metadata: { name: 'many' } });
  await store('/api/v1/namespaces', { metadata: { name: 'heavy' } });
  await store('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION);
  await store(`${DEFAULT_NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  await store(CONFIG_MAPS, { metadata: { name: 'small' }, data: { a: '1' } });
  await store(CONFIG_MAPS, {
    metadata: { name: 'large' },
    data: members(
      25_000,
      (i) => `k${i}`,
      () => 'v',
    ),
  });
  await store(`${DEFAULT_NAMESPACE}/pods`, { metadata: { name: 'small' }, spec: { containers: [container(0)] } });
  await store(`${DEFAULT_NAMESPACE}/pods`, {
    metadata: { name: 'lines' },
    spec: { containers: [{ ...container(0), env: many(900, (i) => ({ name: `E${i}`, value: `${i % 40}` })) }] },
  });
  await store(`${DEFAULT_NAMESPACE}/services`, { metadata: { name: 'small' }, spec: { ports: [{ port: 1 }] } });
  await store('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'large' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: many(3_000, container) } },
    },
  });
  await store('/apis/example.io/v1/namespaces/default/widgets', {
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { name: 'large' },
    keyed: many(5_000, (i) => ({ name: `n${i}`, value: 1 })),
    ints: many(20_000, (i) => i),
    patternOnce: 'a'.repeat(60),
  });
  await store(CONFIG_MAPS, {
    metadata: {
      name: 'managed',
      managedFields: many(50, (i) => ({
        manager: `m${i}`,
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        time: '2024-01-01T00:00:00Z',
        fieldsV1: {
          'f:data': members(
            1_000,
            (key) => `f:k${key}`,
            () => ({}),
          ),
        },
      })),
    },
    data: members(
      1_000,
      (i) => `k${i}`,
      () => 'v',
    ),
  });
  await store('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'large' },
    rules: many(7_500, (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })),
  });
  await store('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'large' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'large' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bound' }],
  });
  for (const index of many(30, (each) => each)) {
    await store('/api/v1/namespaces/heavy/configmaps', {
      metadata: { name: `c${index}`, labels: { a: 'b' } },
      data: {
        ...members(
          2_000,
          (i) => `k${i}`,
          () => 'v',
        ),
        text: 'v\n'.repeat(400_000),
      },
    });
  }
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < OBJECTS) {
      const name = `c${next++}`;
      await store('/api/v1/namespaces/many/configmaps', {
        metadata: { name, labels: { a: name } },
        data: { a: 'x'.repeat(200) },
      });
    }
  };
  await Promise.all(many(AT_ONCE, work));
  agent.destroy();
}
