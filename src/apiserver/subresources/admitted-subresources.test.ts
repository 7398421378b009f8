import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestAnswer, type TestApiServer } from '../api-server.fixture.js';
import type { Outbound } from '../outbound/outbound.js';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const PODS = '/api/v1/namespaces/default/pods';

let server: TestApiServer;
const seen: JsonObject[] = [];
let isDenying = true;

/** A webhook that refuses everything that it is asked about. */
const outbound: Outbound = {
  call: async (_, { body }) => {
    const { request } = JSON.parse(Buffer.from(body!).toString()) as { request: JsonObject };
    // The server itself writes APIServices in the meantime.
    if ((request['userInfo'] as JsonObject)['username'] === 'admin') seen.push(request);
    const response = { uid: request['uid']!, allowed: !isDenying, status: { code: 403, message: 'by policy' } };
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
    return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(review)) };
  },
};

beforeAll(async () => {
  server = await startTestApiServer({ outbound });
  const account = { metadata: { name: 'default' } };
  await server.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: account });
  for (const name of ['evicted', 'bound', 'running']) {
    const spec = { containers: [{ name: 'c', image: 'i' }], ...(name === 'running' ? { nodeName: 'n' } : {}) };
    expect((await server.ask('POST', PODS, { body: { metadata: { name }, spec } })).status).toBe(201);
  }
  await server.ask('POST', '/api/v1/nodes', { body: { metadata: { name: 'n' } } });
  const spec = { ports: [{ port: 80 }] };
  await server.ask('POST', '/api/v1/namespaces/default/services', { body: { metadata: { name: 's' }, spec } });
  const hook = {
    name: 'all.hooks.test',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    rules: [{ operations: ['CREATE', 'CONNECT'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    clientConfig: { url: 'https://127.0.0.1:9/hook' },
  };
  const body = { metadata: { name: 'all' }, webhooks: [hook] };
  expect((await server.ask('POST', `${CONFIGURATIONS}/validatingwebhookconfigurations`, { body })).status).toBe(201);
});
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
  isDenying = true;
});

function expectRefused(answer: TestAnswer): void {
  expect(answer.body).toMatchObject({
    code: 403,
    message: 'admission webhook "all.hooks.test" denied the request: by policy',
  });
}

describe('an admission webhook for subresources without a stored object', () => {
  it('refuses an eviction and keeps the pod', async () => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
    expectRefused(await server.ask('POST', `${PODS}/evicted/eviction`, { body: eviction }));
    expect(seen).toMatchObject([
      {
        operation: 'CREATE',
        kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        subResource: 'eviction',
        name: 'evicted',
        namespace: 'default',
        object: { kind: 'Eviction', metadata: { name: 'evicted', namespace: 'default' } },
        oldObject: null,
        options: { kind: 'CreateOptions' },
      },
    ]);
    expect((await server.ask('GET', `${PODS}/evicted`)).body['metadata']).not.toHaveProperty('deletionTimestamp');
  });

  it('refuses a binding and leaves the pod without a node', async () => {
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target: { name: 'n' } };
    expectRefused(await server.ask('POST', `${PODS}/bound/binding`, { body: binding }));
    expect(seen).toMatchObject([
      { operation: 'CREATE', kind: { kind: 'Binding' }, subResource: 'binding', object: { target: { name: 'n' } } },
    ]);
    expect((await server.ask('GET', `${PODS}/bound`)).body['spec']).not.toHaveProperty('nodeName');
  });

  it('refuses a binding that is sent to the bindings resource', async () => {
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target: { name: 'n' } };
    expectRefused(await server.ask('POST', '/api/v1/namespaces/default/bindings', { body: binding }));
    expect(seen).toMatchObject([{ resource: { resource: 'bindings' }, kind: { kind: 'Binding' }, name: 'bound' }]);
  });

  it('refuses a service account token', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const answer = await server.ask('POST', path, { body: { spec: { audiences: ['x'] } } });
    expectRefused(answer);
    expect(answer.text).not.toContain('token":');
    expect(seen).toMatchObject([
      {
        operation: 'CREATE',
        kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
        subResource: 'token',
        name: 'default',
        object: { kind: 'TokenRequest', spec: { audiences: ['x'] } },
      },
    ]);
  });

  it('refuses an access review', async () => {
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    expectRefused(await server.ask('POST', path, { body: { spec } }));
    expect(seen).toMatchObject([{ operation: 'CREATE', kind: { kind: 'SelfSubjectAccessReview' }, object: { spec } }]);
  });

  it.each([
    ['POST', `${PODS}/running/exec?command=sh&command=-c&stdin=true&container=c`, 'PodExecOptions', 'exec'],
    ['GET', `${PODS}/running/attach?stdout=1`, 'PodAttachOptions', 'attach'],
    ['POST', `${PODS}/running/portforward?ports=80`, 'PodPortForwardOptions', 'portforward'],
    ['GET', `${PODS}/running/proxy/metrics`, 'PodProxyOptions', 'proxy'],
    ['GET', '/api/v1/nodes/n/proxy/stats', 'NodeProxyOptions', 'proxy'],
    ['PUT', '/api/v1/namespaces/default/services/s/proxy/', 'ServiceProxyOptions', 'proxy'],
  ])('refuses %s %s as CONNECT', async (method, target, kind, subResource) => {
    expectRefused(await server.ask(method, target));
    expect(seen).toMatchObject([
      {
        operation: 'CONNECT',
        kind: { kind },
        subResource,
        object: { kind, apiVersion: 'v1' },
        oldObject: null,
        options: null,
      },
    ]);
  });

  it('does not prevent these requests when it allows them', async () => {
    isDenying = false;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
    expect((await server.ask('POST', `${PODS}/evicted/eviction`, { body: eviction })).status).toBe(201);
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target: { name: 'n' } };
    expect((await server.ask('POST', '/api/v1/namespaces/default/bindings', { body: binding })).status).toBe(201);
    expect((await server.ask('GET', `${PODS}/bound`)).body['spec']).toMatchObject({ nodeName: 'n' });
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    expect((await server.ask('POST', path, { body: { spec: {} } })).status).toBe(201);
    expect((await server.ask('GET', `${PODS}/running/proxy/`)).status).toBe(503);
  });
});
