import assert from 'node:assert/strict';
import { type ApiClient, metadataOf } from '../../rig/api-client.js';
import { eventually } from '../../rig/eventually.js';
import type { KubeObject } from '../../rig/http-client.js';
import { deployment, deployments } from './deployments.js';

const PATIENCE = { timeoutMs: 60_000 };
const SYSTEM = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Every namespace is furnished; one with objects of many kinds empties and goes. */
export async function namespaceLife(api: ApiClient): Promise<void> {
  for (const namespace of SYSTEM) await isFurnished(api, namespace);
  const namespace = 'comes-and-goes';
  await api.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await isFurnished(api, namespace);
  await makeDefinition(api);
  await fill(api, namespace);
  await api.remove(`/api/v1/namespaces/${namespace}`);
  const refused = await eventually('nothing new may be made in it', async () => {
    const marked = await api.get(`/api/v1/namespaces/${namespace}`);
    return marked['status']['phase'] === 'Terminating' && marked;
  });
  assert.ok(metadataOf(refused).deletionTimestamp);
  const held = await eventually(
    'it waits for the object that somebody holds, and says so',
    async () => {
      const { status } = await api.get(`/api/v1/namespaces/${namespace}`);
      const conditions: KubeObject[] = status.conditions ?? [];
      return conditions.find((each) => each['type'] === 'NamespaceFinalizersRemaining' && each['status'] === 'True');
    },
    PATIENCE,
  );
  assert.match(String(held['message']), /example\.test\/hold/);
  await api.mergePatch(`/apis/example.test/v1/namespaces/${namespace}/gadgets/held`, {
    metadata: { finalizers: null },
  });
  await eventually(
    'it is gone',
    async () => {
      if (!(await api.exists(`/api/v1/namespaces/${namespace}`))) return true;
      throw new Error(JSON.stringify((await api.get(`/api/v1/namespaces/${namespace}`))['status']));
    },
    PATIENCE,
  );
  assert.deepEqual(await api.list(`/api/v1/namespaces/${namespace}/configmaps`), []);
  assert.deepEqual(await api.list(`/apis/example.test/v1/namespaces/${namespace}/gadgets`), []);
}

export async function isFurnished(api: ApiClient, namespace: string): Promise<void> {
  for (const path of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    await eventually(`${namespace} has ${path}`, () => api.exists(`/api/v1/namespaces/${namespace}/${path}`), PATIENCE);
  }
}

/** Custom resources, as controllers must find them by discovery while they run. */
async function makeDefinition(api: ApiClient): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await api.create(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } },
          },
        },
      ],
    },
  });
  await eventually('gadgets are served', () => api.exists('/apis/example.test/v1/gadgets'));
}

async function fill(api: ApiClient, namespace: string): Promise<void> {
  const core = `/api/v1/namespaces/${namespace}`;
  for (let index = 0; index < 20; index++) {
    await api.create(`${core}/configmaps`, { metadata: { name: `config-${index}` }, data: { index: String(index) } });
  }
  await api.create(`${core}/secrets`, { metadata: { name: 'secret' }, stringData: { word: 'xyzzy' } });
  await api.create(`${core}/services`, {
    metadata: { name: 'service' },
    spec: { ports: [{ port: 80 }], selector: { app: 'x' } },
  });
  await api.create(`${core}/persistentvolumeclaims`, {
    metadata: { name: 'claim' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await api.create(`/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`, {
    metadata: { name: 'ingress' },
    spec: { defaultBackend: { service: { name: 'service', port: { number: 80 } } } },
  });
  await api.create(deployments(namespace), deployment('filling', 3));
  const gadgets = `/apis/example.test/v1/namespaces/${namespace}/gadgets`;
  for (const name of ['free', 'held']) {
    await api.create(gadgets, {
      apiVersion: 'example.test/v1',
      kind: 'Gadget',
      metadata: { name, ...(name === 'held' ? { finalizers: ['example.test/hold'] } : {}) },
      size: 1,
    });
  }
}
