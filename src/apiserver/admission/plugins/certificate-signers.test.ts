import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Identity } from '../../../http/identity.js';
import { makeCertificateRequest } from '../../../http/tls/certificate-request.fixture.js';
import { makeCa } from '../../../http/tls/pki.fixture.js';
import type { JsonObject } from '../../../kube/json.js';
import { startTestApiServer, type TestAnswer, type TestApiServer } from '../../api-server.fixture.js';
import { userWith } from '../../user-with.fixture.js';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

let server: TestApiServer;
beforeAll(async () => {
  server = await startTestApiServer();
});
afterAll(() => server.close());

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A user who may write the two subresources, with these rights on signers. */
function signerUser(name: string, signers: readonly JsonObject[] = []): Promise<Identity> {
  const resources = ['certificatesigningrequests/approval', 'certificatesigningrequests/status'];
  return userWith(server, name, [
    { apiGroups: ['certificates.k8s.io'], resources, verbs: ['update', 'patch'] },
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
    ...signers.map((each) => ({ apiGroups: ['certificates.k8s.io'], resources: ['signers'], ...each })),
  ]);
}

function requestOf(name: string, organizations: readonly string[], signerName = CLIENT_SIGNER): JsonObject {
  const request = base64(makeCertificateRequest('eve', organizations));
  return { metadata: { name }, spec: { request, signerName, usages: ['client auth'] } };
}

async function post(name: string, signerName: string): Promise<void> {
  expect((await server.ask('POST', REQUESTS, { body: requestOf(name, [], signerName) })).status).toBe(201);
}

const condition = (type: string): JsonObject => ({ type, status: 'True', reason: 'r', message: 'm' });

function approve(name: string, as: Identity): Promise<TestAnswer> {
  return server.ask('PATCH', `${REQUESTS}/${name}/approval`, {
    body: { status: { conditions: [condition('Approved')] } },
    as,
  });
}

function signed(name: string, as: Identity): Promise<TestAnswer> {
  const certificate = base64(makeCa('any').pem);
  return server.ask('PATCH', `${REQUESTS}/${name}/status`, { body: { status: { certificate } }, as });
}

describe('certificate signing requests are approved and signed by those who may use the signer', () => {
  it('refuses approval to a user with update on the approval subresource but without approve on the signer', async () => {
    const eve = await signerUser('eve');
    await post('approval-by-eve', CLIENT_SIGNER);
    expect((await approve('approval-by-eve', eve)).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `certificatesigningrequests.certificates.k8s.io "approval-by-eve" is forbidden: user not permitted to approve requests with signerName "${CLIENT_SIGNER}"`,
    });
    expect((await server.ask('GET', `${REQUESTS}/approval-by-eve`)).body['status']).toEqual({});
  });

  it('refuses a certificate from a user with update on the status subresource but without sign on the signer', async () => {
    const eve = await signerUser('eve-signs');
    await post('signed-by-eve', CLIENT_SIGNER);
    expect((await signed('signed-by-eve', eve)).body).toMatchObject({
      code: 403,
      message: `certificatesigningrequests.certificates.k8s.io "signed-by-eve" is forbidden: user not permitted to sign requests with signerName "${CLIENT_SIGNER}"`,
    });
  });

  it('allows approval and signing with the right on the signer itself or on all signers of its domain', async () => {
    const exact = await signerUser('exact', [{ resourceNames: [CLIENT_SIGNER], verbs: ['approve', 'sign'] }]);
    const domain = await signerUser('domain', [{ resourceNames: ['kubernetes.io/*'], verbs: ['approve', 'sign'] }]);
    for (const [index, user] of [exact, domain].entries()) {
      await post(`good-${index}`, CLIENT_SIGNER);
      await post(`other-${index}`, 'example.test/signer');
      expect((await approve(`good-${index}`, user)).status).toBe(200);
      expect((await signed(`good-${index}`, user)).status).toBe(200);
      expect((await approve(`other-${index}`, user)).status).toBe(403);
      expect((await signed(`other-${index}`, user)).status).toBe(403);
    }
  });

  it('refuses to approve through the status subresource even to a user who may sign', async () => {
    const signer = await signerUser('signer', [{ resourceNames: [CLIENT_SIGNER], verbs: ['sign'] }]);
    await post('approved-by-status', CLIENT_SIGNER);
    const answer = await server.ask('PATCH', `${REQUESTS}/approved-by-status/status`, {
      body: { status: { conditions: [condition('Approved')] } },
      as: signer,
    });
    expect(answer.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(answer.body['message']).toContain('updates may not add a condition of type "Approved"');
  });

  it('refuses a client certificate request for the group system:masters', async () => {
    const eve = await signerUser('eve-requests');
    const body = requestOf('masters', ['developers', 'system:masters']);
    expect((await server.ask('POST', REQUESTS, { body, as: eve })).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'certificatesigningrequests.certificates.k8s.io "masters" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    });
    expect((await server.ask('POST', REQUESTS, { body })).status).toBe(403);
    const other = requestOf('masters-elsewhere', ['system:masters'], 'example.test/signer');
    expect((await server.ask('POST', REQUESTS, { body: other, as: eve })).status).toBe(201);
  });

  it('refuses a client certificate request that hides system:masters in a second PEM block', async () => {
    const body = requestOf('two-blocks', []);
    const both = makeCertificateRequest('eve') + makeCertificateRequest('eve', ['system:masters']);
    (body['spec'] as JsonObject)['request'] = base64(both);
    expect((await server.ask('POST', REQUESTS, { body })).status).toBe(403);
  });
});
