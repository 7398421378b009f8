import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

const PATH = '/apis/example.test/v1/spaces';
let api: TestApiServer;

/** A custom resource of the kind Namespace, with a member like that of a list. */
beforeAll(async () => {
  api = await startTestApiServer();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await api.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: 'spaces.example.test' },
      spec: {
        group: 'example.test',
        scope: 'Cluster',
        names: { plural: 'spaces', kind: 'Namespace' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    },
  });
  for (let tries = 0; tries < 20_000 && (await api.ask('GET', PATH)).status !== 200; tries++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
});
afterAll(() => api.close());

function custom(name: string, more: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { kind: 'Namespace', apiVersion: 'example.test/v1', metadata: { name, ...metadata }, ...more };
}

describe('a custom resource that resembles a built-in object', () => {
  it('with a member named items is returned as PartialObjectMetadata, not as a list', async () => {
    await api.ask('POST', PATH, { body: custom('a', { items: [{ b: 1 }] }) });
    const headers = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
    const { status, body } = await api.ask('GET', `${PATH}/a`, { headers });
    expect([status, body['kind'], body['items']]).toEqual([200, 'PartialObjectMetadata', undefined]);
  });

  it('of the kind Namespace is removed with its last finalizer, whatever its spec.finalizers', async () => {
    const spec = { finalizers: ['kubernetes'] };
    await api.ask('POST', PATH, { body: custom('b', { spec }, { finalizers: ['example.test/hold'] }) });
    await api.ask('DELETE', `${PATH}/b`);
    const headers = { 'content-type': 'application/merge-patch+json' };
    await api.ask('PATCH', `${PATH}/b`, { headers, body: { metadata: { finalizers: null } } });
    expect((await api.ask('GET', `${PATH}/b`)).status).toBe(404);
  });
});
