import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../base/manual-clock.fixture.js';
import { makeCa, makeServer } from '../http/tls/pki.fixture.js';
import type { JsonObject } from '../kube/json.js';
import { startTestApiServer, type TestApiServer } from './api-server.fixture.js';
import { OutboundCalls } from './outbound/outbound-calls.js';

/** Everything that is called stands on one local TLS server; each test says what it answers. */
let hook: (path: string, review: JsonObject) => JsonObject;
let server: Server;
let api: TestApiServer;
let caBundle: string;
let address: string;
const outbound = new OutboundCalls();

beforeAll(async () => {
  const ca = makeCa('hooks');
  const { pem, keyPem } = makeServer(ca);
  caBundle = Buffer.from(ca.pem).toString('base64');
  server = createServer({ cert: pem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(hook(request.url!, review)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api = await startTestApiServer({ outbound });
});

afterAll(async () => {
  await api.close();
  await outbound.close();
  server.close();
});

const meta = (object: JsonObject): JsonObject => object['metadata'] as JsonObject;

/** Definitions are established, and then served, a moment after they are made: both come by the feed. */
async function established(name: string): Promise<void> {
  const group = name.slice(name.indexOf('.') + 1);
  await until(async () => (await api.ask('GET', `/apis/${group}/v1`)).status === 200, `${name} to be served`);
}

function definition(group: string, extra: JsonObject = {}): JsonObject {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { size: { type: 'integer', minimum: 1, default: 3 }, mode: { type: 'string' } },
          'x-kubernetes-validations': [{ rule: "self.size < 10 || self.mode == 'large'", message: 'too big' }],
        },
        status: { type: 'object', properties: { seen: { type: 'integer' } } },
      },
    },
  };
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema,
    subresources: { status: {} },
  });
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [version('v1', true), version('v2', false)],
      ...extra,
    },
  };
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('custom resource definitions', () => {
  const widgets = '/apis/plain.example.test/v1/namespaces/default/widgets';
  const widget = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'plain.example.test/v1',
    kind: 'Widget',
    metadata: { name },
    spec,
  });

  beforeAll(async () => {
    expect((await api.ask('POST', DEFINITIONS, { body: definition('plain.example.test') })).status).toBe(201);
    await established('widgets.plain.example.test');
  });

  it('default, prune and validate custom resources by schema and by CEL rule', async () => {
    const made = await api.ask('POST', widgets, { body: widget('a', { unknown: 1 }) });
    expect([made.status, made.body['spec']]).toEqual([201, { size: 3 }]);
    expect(made.warnings).toEqual(['299 - "unknown field \\"spec.unknown\\""']);
    const small = await api.ask('POST', widgets, { body: widget('b', { size: 0 }) });
    expect([small.status, small.body['reason']]).toEqual([422, 'Invalid']);
    const big = await api.ask('PATCH', `${widgets}/a`, { body: { spec: { size: 12, mode: 'x' } } });
    expect([big.status, String(big.body['message'])]).toEqual([422, expect.stringContaining('too big')]);
    expect((await api.ask('PATCH', `${widgets}/a`, { body: { spec: { size: 12, mode: 'large' } } })).status).toBe(200);
  });

  it('separate the status subresource from the spec, and serve an object in every version', async () => {
    await api.ask('POST', widgets, { body: { ...widget('s', {}), status: { seen: 1 } } });
    const status = await api.ask('PATCH', `${widgets}/s/status`, { body: { status: { seen: 2 }, spec: { size: 9 } } });
    expect(status.body).toMatchObject({ spec: { size: 3 }, status: { seen: 2 } });
    const other = await api.ask('GET', `${widgets.replace('/v1/', '/v2/')}/s`);
    expect(other.body).toMatchObject({ apiVersion: 'plain.example.test/v2', status: { seen: 2 } });
  });

  it('are in discovery and OpenAPI at once, and are deleted with all their custom resources', async () => {
    expect((await api.ask('GET', '/apis/plain.example.test/v1')).body['resources']).toHaveLength(2);
    expect((await api.ask('GET', '/openapi/v3/apis/plain.example.test/v1')).text).toContain(
      'test.example.plain.v1.Widget',
    );
    const { body } = await api.ask('DELETE', `${DEFINITIONS}/widgets.plain.example.test`);
    expect(meta(body)['finalizers']).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    const isGone = async (path: string): Promise<boolean> => (await api.ask('GET', path)).status === 404;
    await until(() => isGone(`${DEFINITIONS}/widgets.plain.example.test`), 'the end of the definition', 15_000);
    // The server hears of it by its feed, as kube-apiserver does.
    await until(() => isGone(widgets), 'the end of the resource');
    expect((await api.backend.list('/registry/plain.example.test/')).items).toEqual([]);
  });
});

describe('a conversion webhook of a custom resource', () => {
  it('is called for reads and writes, and a failed conversion is answered with 500 and its message', async () => {
    hook = (_path, review) => {
      const { uid, objects, desiredAPIVersion } = review['request'] as {
        uid: string;
        objects: JsonObject[];
        desiredAPIVersion: string;
      };
      const convertedObjects = objects.map((each) => ({
        ...each,
        apiVersion: desiredAPIVersion,
        spec: { ...(each['spec'] as JsonObject), mode: desiredAPIVersion.split('/')[1]! },
      }));
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        response: { uid, result: { status: 'Success' }, convertedObjects },
      };
    };
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${address}/convert`, caBundle } },
    };
    await api.ask('POST', DEFINITIONS, { body: definition('conv.example.test', { conversion }) });
    await established('widgets.conv.example.test');
    const path = '/apis/conv.example.test/v2/namespaces/default/widgets';
    const made = await api.ask('POST', path, {
      body: { apiVersion: 'conv.example.test/v2', kind: 'Widget', metadata: { name: 'c' }, spec: {} },
    });
    expect(made.status).toBe(201);
    expect((await api.ask('GET', `${path}/c`)).body['spec']).toEqual({ size: 3, mode: 'v2' });
    expect((await api.ask('GET', `${path.replace('/v2/', '/v1/')}/c`)).body['spec']).toEqual({ size: 3, mode: 'v1' });
    hook = (_path, review) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: { uid: (review['request'] as JsonObject)['uid']!, result: { status: 'Failed', message: 'not today' } },
    });
    await api.ask('POST', path.replace('/v2/', '/v1/'), {
      body: { apiVersion: 'conv.example.test/v1', kind: 'Widget', metadata: { name: 'd' }, spec: {} },
    });
    const refused = await api.ask('GET', `${path}/d`);
    expect([refused.status, String(refused.body['message'])]).toEqual([500, expect.stringContaining('not today')]);
  });
});

describe('admission webhooks', () => {
  const MAPS = '/api/v1/namespaces/default/configmaps';
  const map = (name: string): JsonObject => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name },
    data: { a: '1' },
  });
  const configuration = (kind: string, path: string): JsonObject => ({
    kind,
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata: { name: path.slice(1) },
    webhooks: [
      {
        name: `${path.slice(1)}.example.test`,
        clientConfig: { url: address + path, caBundle },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['configmaps'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
          },
        ],
        matchConditions: [{ name: 'hooked', expression: "request.name.startsWith('hooked')" }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });

  it('patch a created object with a warning, and deny its deletion', async () => {
    const GROUP = '/apis/admissionregistration.k8s.io/v1';
    expect(
      (
        await api.ask('POST', `${GROUP}/mutatingwebhookconfigurations`, {
          body: configuration('MutatingWebhookConfiguration', '/mutate'),
        })
      ).status,
    ).toBe(201);
    expect(
      (
        await api.ask('POST', `${GROUP}/validatingwebhookconfigurations`, {
          body: configuration('ValidatingWebhookConfiguration', '/validate'),
        })
      ).status,
    ).toBe(201);
    hook = (path, review) => {
      const request = review['request'] as JsonObject;
      const response: JsonObject = { uid: request['uid']!, allowed: true };
      if (path.startsWith('/mutate') && request['operation'] === 'CREATE') {
        const patch = [{ op: 'add', path: '/data/touched', value: 'yes' }];
        Object.assign(response, {
          patchType: 'JSONPatch',
          patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
          warnings: ['touched'],
        });
      } else if (path.startsWith('/validate') && request['operation'] === 'DELETE') {
        Object.assign(response, { allowed: false, status: { code: 403, message: 'it stays' } });
      }
      return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
    };
    // Configurations reach the caches by the feed, a moment after they are stored.
    let made = await api.ask('POST', MAPS, { body: map('hooked-0') });
    for (let count = 1; made.warnings.length === 0 && count < 100; count++)
      made = await api.ask('POST', MAPS, { body: map(`hooked-${count}`) });
    expect([made.body['data'], made.warnings]).toEqual([{ a: '1', touched: 'yes' }, ['299 - "touched"']]);
    const refused = await api.ask('DELETE', `${MAPS}/${meta(made.body)['name']}`);
    expect([refused.status, refused.body['message']]).toEqual([
      403,
      'admission webhook "validate.example.test" denied the request: it stays',
    ]);
    await api.ask('POST', MAPS, { body: map('free') });
    expect((await api.ask('DELETE', `${MAPS}/free`)).status).toBe(200);
  });
});
