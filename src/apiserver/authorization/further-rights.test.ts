import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Identity } from '../../http/identity.js';
import type { JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';
import type { Outbound } from '../outbound/outbound.js';
import { userWith } from '../user-with.fixture.js';

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const DEFAULT = '/api/v1/namespaces/default';
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';

const reviews: JsonObject[] = [];
const outbound: Outbound = {
  call: async (_, { body }) => {
    const { request } = JSON.parse(Buffer.from(body!).toString()) as { request: JsonObject };
    if (request['subResource'] === 'scale') reviews.push(request);
    // Whoever scales beyond two gets two.
    const patch = Buffer.from('[{"op":"replace","path":"/spec/replicas","value":2}]').toString('base64');
    const isScale = request['subResource'] === 'scale';
    const response = {
      uid: request['uid']!,
      allowed: true,
      ...(isScale ? { patch, patchType: 'JSONPatch' } : {}),
    };
    const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
    return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(review)) };
  },
};

let server: TestApiServer;
beforeAll(async () => {
  server = await startTestApiServer({ outbound });
});
afterAll(() => server.close());

describe('authorization beyond the verb and resource of a request', () => {
  it('allows list and watch by metadata.name to a user with a right on that name only', async () => {
    const rule = { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['list', 'watch'] };
    const reader = await userWith(server, 'name-reader', [rule]);
    for (const name of ['mine', 'other']) {
      await server.ask('POST', `${DEFAULT}/secrets`, { body: { metadata: { name } } });
    }
    const list = (query: string) => server.ask('GET', `${DEFAULT}/secrets${query}`, { as: reader });
    const selected = await list('?fieldSelector=metadata.name%3Dmine');
    expect(selected.status).toBe(200);
    expect((selected.body['items'] as JsonObject[]).map((each) => (each['metadata'] as JsonObject)['name'])).toEqual([
      'mine',
    ]);
    for (const query of [
      '',
      '?fieldSelector=metadata.name%3Dother',
      '?fieldSelector=metadata.name!%3Dmine',
      '?fieldSelector=metadata.namespace%3Dmine',
      '?fieldSelector=%3D%3D%3D',
      '?labelSelector=metadata.name%3Dmine',
    ]) {
      expect((await list(query)).status, query).toBe(403);
    }
  });

  it('refuses exec by GET, as WebSocket clients send it, to a user with get but without create on pods/exec', async () => {
    const rule = { apiGroups: [''], resources: ['pods/exec', 'pods/attach', 'pods/portforward'], verbs: ['get'] };
    const viewer = await userWith(server, 'exec-viewer', [rule]);
    for (const part of ['exec', 'attach', 'portforward']) {
      const answer = await server.ask('GET', `${DEFAULT}/pods/x/${part}`, { as: viewer });
      expect(answer.body).toMatchObject({ code: 403, reason: 'Forbidden', message: 'pods "x" is forbidden: ' });
    }
  });

  it('refuses a policy whose parameters its author may not read', async () => {
    const resources = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];
    const author = await userWith(server, 'policy-author', [
      { apiGroups: ['admissionregistration.k8s.io'], resources, verbs: ['create'] },
    ]);
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'Secret' },
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      validations: [{ expression: 'false', messageExpression: 'string(params.data.password)' }],
    };
    const path = `${REGISTRATION}/validatingadmissionpolicies`;
    const refused = await server.ask('POST', path, { body: { metadata: { name: 'peek' }, spec }, as: author });
    expect(refused.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(refused.body['message']).toContain('must have "get" permission on all objects of the referenced paramKind');
    expect((await server.ask('POST', path, { body: { metadata: { name: 'peek' }, spec } })).status).toBe(201);
    const binding = {
      metadata: { name: 'peek' },
      spec: {
        policyName: 'peek',
        validationActions: ['Deny'],
        paramRef: { name: 'token', namespace: 'kube-system', parameterNotFoundAction: 'Deny' },
      },
    };
    const bound = await server.ask('POST', `${path.replace('policies', 'policybindings')}`, {
      body: binding,
      as: author,
    });
    expect(bound.body).toMatchObject({ code: 422 });
    expect(bound.body['message']).toContain('does not have "get" permission on the object referenced by paramRef');
  });

  it('forbids a device driver to allocate claims or to report status for another driver', async () => {
    const driver = await userWith(server, 'driver', [
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/status'], verbs: ['patch'] },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims/driver'],
        resourceNames: ['granted.test'],
        verbs: ['arbitrary-node:patch'],
      },
    ]);
    const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } };
    await server.ask('POST', CLAIMS, { body: { metadata: { name: 'claim' }, spec } });
    const result = (name: string): JsonObject => ({ request: 'r', driver: name, pool: 'p', device: 'd' });
    const allocation = { devices: { results: [result('granted.test'), result('other.test')] } };
    const write = (status: JsonObject, as?: Identity) =>
      server.ask('PATCH', `${CLAIMS}/claim/status`, { body: { status }, ...(as ? { as } : {}) });
    const refused = await write({ allocation }, driver);
    expect(refused.body).toMatchObject({ code: 422 });
    expect(refused.body['message']).toContain('requires resource="resourceclaims/binding", verb="patch" permission');
    expect((await write({ allocation })).status).toBe(200);
    const device = (name: string): JsonObject => ({ driver: name, pool: 'p', device: 'd', data: { a: 1 } });
    expect((await write({ devices: [device('granted.test')] }, driver)).status).toBe(200);
    const other = await write({ devices: [device('granted.test'), device('other.test')] }, driver);
    expect(other.body['message']).toContain('cannot arbitrary-node:patch resource "resourceclaims/driver"');
  });

  it('refuses administrative access to devices in a namespace that is not labelled for it', async () => {
    const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', adminAccess: true } }] } };
    const body = { metadata: { name: 'admin' }, spec };
    expect((await server.ask('POST', CLAIMS, { body })).body['message']).toContain('admin access to devices requires');
    const label = { metadata: { labels: { 'resource.kubernetes.io/admin-access': 'true' } } };
    await server.ask('PATCH', DEFAULT, { body: label });
    expect((await server.ask('POST', CLAIMS, { body })).status).toBe(201);
  });
});

describe('a webhook for the scale subresource', () => {
  it('sees a Scale in place of the scaled object and may change the number of replicas', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    expect((await server.ask('POST', path, { body: { metadata: { name: 'd' }, spec } })).status).toBe(201);
    const hook = {
      name: 'scale.hooks.test',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [{ operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*/scale'] }],
      clientConfig: { url: 'https://127.0.0.1:9/hook' },
    };
    const configuration = { metadata: { name: 'scale' }, webhooks: [hook] };
    await server.ask('POST', `${REGISTRATION}/mutatingwebhookconfigurations`, { body: configuration });
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 9 } };
    const answer = await server.ask('PUT', `${path}/d/scale`, { body: scale });
    expect(answer.body).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } });
    expect(reviews).toMatchObject([{ object: { spec: { replicas: 9 } }, oldObject: { spec: { replicas: 1 } } }]);
    expect(JSON.stringify(reviews)).not.toContain('containers');
    expect((await server.ask('GET', `${path}/d`)).body['spec']).toMatchObject({ replicas: 2 });
  });
});
