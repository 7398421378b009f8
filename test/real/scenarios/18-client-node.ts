import assert from 'node:assert/strict';
import { BatchV1Api, KubeConfig, type KubernetesObject, KubernetesObjectApi, Watch } from '@kubernetes/client-node';
import { clientNodeVersion } from '../rig/client-node-version.js';
import { eventually } from '../rig/eventually.js';
import { layoutOf, type Plane } from '../rig/plane.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { newerObject } from './newer-api.js';

export const clientNode = {
  number: 18,
  name: '@kubernetes/client-node through A’s Straddle: typed and dynamic clients with kinds that only peers serve',
  async run({ plane, namespace, worked }: ScenarioContext<Plane>) {
    await plane.arrange(layoutOf('batch'));
    await clientNodeWorks(plane, [await namespace(), await namespace()]);
    worked({ name: '@kubernetes/client-node', version: clientNodeVersion() });
  },
} satisfies Scenario;

/** Both kinds of client through A’s Straddle, with Jobs and with an API that only B and C serve. */
export async function clientNodeWorks(plane: Plane, [typed, ns]: readonly [string, string]): Promise<void> {
  const config = throughA(plane);
  await typedJobs(config, typed);
  await dynamic(config, { ...newerObject('one'), metadata: { name: 'one', namespace: ns } });
  await dynamic(config, job('two', ns));
}

function throughA(plane: Plane): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(plane.kubeconfig);
  config.setCurrentContext('straddle-a');
  return config;
}

async function typedJobs(config: KubeConfig, namespace: string): Promise<void> {
  const batch = config.makeApiClient(BatchV1Api);
  const seen: string[] = [];
  const request = await new Watch(config).watch(
    `/apis/batch/v1/namespaces/${namespace}/jobs`,
    {},
    (type, object: KubernetesObject) => seen.push(`${type} ${object.metadata?.name}`),
    () => {},
  );
  try {
    const created = await batch.createNamespacedJob({ namespace, body: job('typed', namespace) });
    assert.equal(created.metadata?.name, 'typed');
    const listed = await batch.listNamespacedJob({ namespace });
    assert.deepEqual(
      listed.items.map(({ metadata }) => metadata?.name),
      ['typed'],
    );
    const read = await batch.readNamespacedJob({ name: 'typed', namespace });
    read.metadata = { ...read.metadata, labels: { touched: 'yes' } };
    const replaced = await batch.replaceNamespacedJob({ name: 'typed', namespace, body: read });
    assert.equal(replaced.metadata?.labels?.['touched'], 'yes');
    await batch.deleteNamespacedJob({ name: 'typed', namespace, propagationPolicy: 'Background' });
    await assert.rejects(batch.readNamespacedJob({ name: 'typed', namespace }), { code: 404 });
    await eventually('the watch has shown every change', () => seen.length >= 3);
    assert.deepEqual(seen, ['ADDED typed', 'MODIFIED typed', 'DELETED typed']);
  } finally {
    request.abort();
  }
}

interface Named extends KubernetesObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid?: string };
}

/** It finds the path of a kind by legacy discovery. */
async function dynamic(config: KubeConfig, object: object): Promise<void> {
  const client = KubernetesObjectApi.makeApiClient(config);
  const header = object as Named & { apiVersion: string; kind: string };
  const created = await client.create(header);
  assert.equal(created.metadata?.name, header.metadata.name);
  const read = await client.read(header);
  assert.equal(read.metadata?.uid, created.metadata?.uid);
  const listed = await client.list(header.apiVersion, header.kind, header.metadata.namespace);
  assert.deepEqual(
    listed.items.map(({ metadata }) => metadata?.name),
    [header.metadata.name],
  );
  const change = { labels: { touched: 'yes' }, finalizers: null };
  const { apiVersion, kind, metadata } = header;
  // Typed without null, which is how a merge patch takes a field away.
  const patch = { apiVersion, kind, metadata: { ...metadata, ...change } } as unknown as KubernetesObject;
  const patched = await client.patch(patch, undefined, undefined, undefined, undefined, 'application/merge-patch+json');
  assert.equal(patched.metadata?.labels?.['touched'], 'yes');
  await client.delete(header, undefined, undefined, 0, undefined, 'Background');
  await assert.rejects(client.read(header), { code: 404 });
}

function job(name: string, namespace: string) {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace },
    spec: {
      template: {
        spec: { containers: [{ name: 'main', image: 'example.test/nothing' }], restartPolicy: 'Never' },
      },
    },
  };
}
