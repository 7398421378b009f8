import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../../api-server.fixture.js';

let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
});

afterAll(() => api.close());

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};
const validating = { matchConstraints, validations: [{ expression: 'true' }] };
const expression = 'Object{metadata: Object.metadata{labels: {"a": "b"}}}';
const mutating = {
  matchConstraints,
  failurePolicy: 'Fail',
  reinvocationPolicy: 'Never',
  mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
};
const restricted = { name: 'locked', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } };

const CASES: readonly (readonly [what: string, path: string, object: JsonObject])[] = [
  [
    'ResourceQuota',
    QUOTAS,
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '1' } } },
  ],
  [
    'ValidatingAdmissionPolicy',
    `${ADMISSION}/validatingadmissionpolicies`,
    policy('ValidatingAdmissionPolicy', validating),
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    `${ADMISSION}/validatingadmissionpolicybindings`,
    policy('ValidatingAdmissionPolicyBinding', { policyName: 'p', validationActions: ['Deny'] }),
  ],
  ['MutatingAdmissionPolicy', `${ADMISSION}/mutatingadmissionpolicies`, policy('MutatingAdmissionPolicy', mutating)],
  [
    'MutatingAdmissionPolicyBinding',
    `${ADMISSION}/mutatingadmissionpolicybindings`,
    policy('MutatingAdmissionPolicyBinding', { policyName: 'p' }),
  ],
  [
    'the label pod-security.kubernetes.io/enforce',
    '/api/v1/namespaces',
    { apiVersion: 'v1', kind: 'Namespace', metadata: restricted },
  ],
];

function policy(kind: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'p' }, spec };
}

describe('the embedded server with quotas and policies that it does not enforce', () => {
  it.each(CASES)('warns when %s is created, updated, patched or applied', async (what, path, object) => {
    const warning = [expect.stringContaining(`299 - "this API server stores ${what}`)];
    const target = `${path}/${(object['metadata'] as JsonObject)['name']}`;
    const created = await api.ask('POST', path, { body: object });
    expect([created.status, created.warnings], created.text).toEqual([201, warning]);
    const updated = await api.ask('PUT', target, { body: created.body });
    expect([updated.status, updated.warnings]).toEqual([200, warning]);
    const patched = await api.ask('PATCH', target, { body: { metadata: { annotations: { a: 'b' } } } });
    expect([patched.status, patched.warnings]).toEqual([200, warning]);
    const operation = { op: 'add', path: '/metadata/annotations/c', value: 'd' };
    const jsonPatched = await api.ask('PATCH', target, { body: [operation], headers: JSON_PATCH });
    expect([jsonPatched.status, jsonPatched.warnings]).toEqual([200, warning]);
    const applied = await api.ask('PATCH', `${target}?fieldManager=x&force=true`, { body: object, headers: APPLY });
    expect([applied.status, applied.warnings]).toEqual([200, warning]);
    const read = await api.ask('GET', target);
    expect([read.status, read.warnings]).toEqual([200, []]);
    const deleted = await api.ask('DELETE', target);
    expect([deleted.status, deleted.warnings]).toEqual([200, []]);
  });

  it('warns when server-side apply creates a ResourceQuota', async () => {
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'new' }, spec: { hard: { pods: '1' } } };
    const { status, warnings } = await api.ask('PATCH', `${QUOTAS}/new?fieldManager=x`, { body, headers: APPLY });
    expect([status, warnings.length]).toEqual([201, 1]);
  });

  it('does not warn for a namespace without an enforced pod security level, nor for a write to a status', async () => {
    const path = '/api/v1/namespaces';
    expect((await api.ask('POST', path, { body: { metadata: { name: 'plain' } } })).warnings).toEqual([]);
    const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
    expect((await api.ask('POST', path, { body: { metadata: { name: 'open', labels } } })).warnings).toEqual([]);
    await api.ask('POST', path, { body: { metadata: { ...restricted, name: 'closed' } } });
    const status = await api.ask('PATCH', `${path}/closed/status`, { body: { status: { phase: 'Active' } } });
    expect([status.status, status.warnings]).toEqual([200, []]);
  });
});
