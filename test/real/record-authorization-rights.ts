import { makeCertificateRequest } from '../../src/http/tls/certificate-request.fixture.js';
import { makeCa } from '../../src/http/tls/pki.fixture.js';
import type { JsonObject } from '../../src/kube/json.js';
import { type AuthorizationCase, meta, NAMESPACE, patchType, post } from './record-authorization-case.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLES = `${RBAC}/namespaces/${NAMESPACE}/roles`;
const ROLE_BINDINGS = `${RBAC}/namespaces/${NAMESPACE}/rolebindings`;
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
const role = (name: string): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  ...meta(name),
  rules,
});
const roleBinding = (name: string, kind = 'Role'): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  ...meta(name),
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'friend' }],
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: kind === 'Role' ? 'there' : 'granted' },
});
const apply = { headers: patchType('apply') };
const noEscalate = { deny: ['escalate roles', 'escalate clusterroles'] };
const noBind = { deny: ['bind roles', 'bind clusterroles'] };

const GRANTS: readonly AuthorizationCase[] = [
  {
    name: 'roles: create with escalate',
    method: 'POST',
    path: ROLES,
    body: role('r1'),
    setup: [post(ROLES, role('there'))],
  },
  { name: 'roles: create without escalate', method: 'POST', path: ROLES, body: role('r2'), ...noEscalate },
  {
    name: 'roles: update without escalate',
    method: 'PUT',
    path: `${ROLES}/there`,
    body: { ...role('there'), rules: [{ ...rules[0]!, verbs: ['*'] }] },
    ...noEscalate,
  },
  { name: 'roles: PUT of a missing role with escalate', method: 'PUT', path: `${ROLES}/r3`, body: role('r3') },
  {
    name: 'roles: PUT of a missing role without escalate',
    method: 'PUT',
    path: `${ROLES}/r4`,
    body: role('r4'),
    ...noEscalate,
  },
  {
    name: 'roles: apply of a missing role with escalate',
    method: 'PATCH',
    path: `${ROLES}/r5?fieldManager=me`,
    body: role('r5'),
    ...apply,
  },
  {
    name: 'roles: apply of a missing role without create',
    method: 'PATCH',
    path: `${ROLES}/r6?fieldManager=me`,
    body: role('r6'),
    ...apply,
    deny: ['create roles'],
  },
  {
    name: 'clusterroles: create without escalate',
    method: 'POST',
    path: `${RBAC}/clusterroles`,
    body: { ...meta('c1'), rules },
    ...noEscalate,
  },
  {
    name: 'clusterroles: update of labels without escalate',
    method: 'PATCH',
    path: `${RBAC}/clusterroles/granted`,
    body: { metadata: { labels: { a: 'b' } } },
    headers: patchType('merge'),
    ...noEscalate,
  },
  { name: 'rolebindings: create with bind', method: 'POST', path: ROLE_BINDINGS, body: roleBinding('b1') },
  {
    name: 'rolebindings: create without bind',
    method: 'POST',
    path: ROLE_BINDINGS,
    body: roleBinding('b2'),
    ...noBind,
  },
  {
    name: 'rolebindings: create of a cluster role without bind',
    method: 'POST',
    path: ROLE_BINDINGS,
    body: roleBinding('b3', 'ClusterRole'),
    ...noBind,
  },
  {
    name: 'rolebindings: PUT of a missing binding with bind',
    method: 'PUT',
    path: `${ROLE_BINDINGS}/b4`,
    body: roleBinding('b4'),
  },
  {
    name: 'rolebindings: apply of a missing binding without create',
    method: 'PATCH',
    path: `${ROLE_BINDINGS}/b5?fieldManager=me`,
    body: roleBinding('b5'),
    ...apply,
    deny: ['create rolebindings'],
  },
  {
    name: 'clusterrolebindings: create with bind',
    method: 'POST',
    path: `${RBAC}/clusterrolebindings`,
    body: { ...roleBinding('cb1', 'ClusterRole'), kind: 'ClusterRoleBinding' },
  },
];

const signed = Buffer.from(makeCa('signer').pem).toString('base64');
const csr = (name: string, signerName: string, organizations: readonly string[] = []): JsonObject => ({
  ...meta(name),
  spec: {
    request: Buffer.from(makeCertificateRequest('someone', organizations)).toString('base64'),
    signerName,
    usages: ['client auth'],
  },
});
const CLIENT = 'kubernetes.io/kube-apiserver-client';
const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } };
const merge = { headers: patchType('merge') };
const newCsr = (name: string, signer = CLIENT) => ({ setup: [post(CSRS, csr(name, signer))] });

const CERTIFICATES: readonly AuthorizationCase[] = [
  { name: 'certificatesigningrequests: create', method: 'POST', path: CSRS, body: csr('made', CLIENT) },
  {
    name: 'certificatesigningrequests: create for system:masters',
    method: 'POST',
    path: CSRS,
    body: csr('masters', CLIENT, ['system:masters']),
  },
  {
    name: 'certificatesigningrequests: create for system:masters by another signer',
    method: 'POST',
    path: CSRS,
    body: csr('masters-else', 'example.test/s', ['system:masters']),
  },
  {
    name: 'certificatesigningrequests/approval: patch',
    method: 'PATCH',
    path: `${CSRS}/s1/approval`,
    body: approved,
    ...merge,
    ...newCsr('s1'),
  },
  {
    name: 'certificatesigningrequests/approval: patch without approve',
    method: 'PATCH',
    path: `${CSRS}/s2/approval`,
    body: approved,
    ...merge,
    ...newCsr('s2', 'example.test/a.b'),
    deny: ['approve signers'],
  },
  {
    name: 'certificatesigningrequests/approval: patch of labels without approve',
    method: 'PATCH',
    path: `${CSRS}/s4/approval`,
    body: { metadata: { labels: { a: 'b' } } },
    ...merge,
    ...newCsr('s4'),
    deny: ['approve signers'],
  },
  {
    name: 'certificatesigningrequests/approval: patch without the right',
    method: 'PATCH',
    path: `${CSRS}/s2/approval`,
    body: approved,
    ...merge,
    deny: ['patch certificatesigningrequests/approval'],
  },
  {
    name: 'certificatesigningrequests/approval: patch of a missing request',
    method: 'PATCH',
    path: `${CSRS}/missing/approval`,
    body: approved,
    ...merge,
  },
  {
    name: 'certificatesigningrequests/status: patch of the certificate',
    method: 'PATCH',
    path: `${CSRS}/s1/status`,
    body: { status: { certificate: signed } },
    ...merge,
  },
  {
    name: 'certificatesigningrequests/status: patch of the certificate without sign',
    method: 'PATCH',
    path: `${CSRS}/s3/status`,
    body: { status: { certificate: signed } },
    ...merge,
    ...newCsr('s3'),
    deny: ['sign signers'],
  },
  {
    name: 'certificatesigningrequests/status: patch of conditions without sign',
    method: 'PATCH',
    path: `${CSRS}/s3/status`,
    body: { status: { conditions: [{ type: 'Failed', status: 'True' }] } },
    ...merge,
    deny: ['sign signers'],
  },
  {
    name: 'certificatesigningrequests/status: patch of labels without sign',
    method: 'PATCH',
    path: `${CSRS}/s3/status`,
    body: { metadata: { labels: { a: 'b' } } },
    ...merge,
    deny: ['sign signers'],
  },
  {
    name: 'certificatesigningrequests/status: approval through the status',
    method: 'PATCH',
    path: `${CSRS}/s3/status`,
    body: approved,
    ...merge,
  },
  {
    name: 'certificatesigningrequests/status: another certificate',
    method: 'PATCH',
    path: `${CSRS}/s1/status`,
    body: { status: { certificate: Buffer.from(makeCa('other').pem).toString('base64') } },
    ...merge,
  },
];

const policy = (name: string, paramKind?: JsonObject): JsonObject => ({
  ...meta(name),
  spec: {
    ...(paramKind ? { paramKind } : {}),
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['none.test'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] },
      ],
    },
    validations: [{ expression: 'true' }],
  },
});
const policyBinding = (name: string, paramRef: JsonObject): JsonObject => ({
  ...meta(name),
  spec: {
    policyName: 'with-params',
    validationActions: ['Deny'],
    paramRef: { parameterNotFoundAction: 'Deny', ...paramRef },
  },
});
const PARAMS = { apiVersion: 'v1', kind: 'ConfigMap' };
const POLICIES = `${REGISTRATION}/validatingadmissionpolicies`;
const POLICY_BINDINGS = `${REGISTRATION}/validatingadmissionpolicybindings`;

const ADMISSION_POLICIES: readonly AuthorizationCase[] = [
  { name: 'validatingadmissionpolicies: create', method: 'POST', path: POLICIES, body: policy('plain') },
  {
    name: 'validatingadmissionpolicies: create with a parameter kind',
    method: 'POST',
    path: POLICIES,
    body: policy('with-params', PARAMS),
  },
  {
    name: 'validatingadmissionpolicies: create with a parameter kind without get',
    method: 'POST',
    path: POLICIES,
    body: policy('p2', PARAMS),
    deny: ['get configmaps'],
  },
  {
    name: 'validatingadmissionpolicies: create with an unknown parameter kind',
    method: 'POST',
    path: POLICIES,
    body: policy('p3', { apiVersion: 'none.test/v1', kind: 'Nothing' }),
    deny: ['get *'],
  },
  {
    name: 'validatingadmissionpolicies: update of the parameter kind without get',
    method: 'PUT',
    path: `${POLICIES}/plain`,
    body: policy('plain', PARAMS),
    deny: ['get configmaps'],
  },
  {
    name: 'validatingadmissionpolicybindings: create with a parameter',
    method: 'POST',
    path: POLICY_BINDINGS,
    body: policyBinding('pb1', { name: 'x', namespace: NAMESPACE }),
  },
  {
    name: 'validatingadmissionpolicybindings: create with a parameter without get',
    method: 'POST',
    path: POLICY_BINDINGS,
    body: policyBinding('pb2', { name: 'x', namespace: NAMESPACE }),
    deny: ['get configmaps'],
  },
  {
    name: 'validatingadmissionpolicybindings: create with selected parameters without list',
    method: 'POST',
    path: POLICY_BINDINGS,
    body: policyBinding('pb3', { selector: {} }),
    deny: ['list configmaps'],
  },
];

const claim = (name: string): JsonObject => ({
  ...meta(name),
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
});
const CLAIMS = `/apis/resource.k8s.io/v1/namespaces/${NAMESPACE}/resourceclaims`;
const allocation = { devices: { results: [{ request: 'r', driver: 'driver.test', pool: 'p', device: 'd' }] } };
const devices = [{ driver: 'driver.test', pool: 'p', device: 'd', data: { a: 1 } }];

const CLAIM_CASES: readonly AuthorizationCase[] = [
  {
    name: 'resourceclaims/status: allocation',
    method: 'PATCH',
    path: `${CLAIMS}/c1/status`,
    body: { status: { allocation } },
    ...merge,
    setup: [post(CLAIMS, claim('c1'))],
  },
  {
    name: 'resourceclaims/status: allocation without binding',
    method: 'PATCH',
    path: `${CLAIMS}/c2/status`,
    body: { status: { allocation } },
    ...merge,
    setup: [post(CLAIMS, claim('c2'))],
    deny: ['patch resourceclaims/binding'],
  },
  {
    name: 'resourceclaims/status: device status',
    method: 'PATCH',
    path: `${CLAIMS}/c1/status`,
    body: { status: { devices } },
    ...merge,
  },
  {
    name: 'resourceclaims/status: device status without driver',
    method: 'PATCH',
    path: `${CLAIMS}/c1/status`,
    body: { status: { devices: [{ ...devices[0]!, data: { a: 2 } }] } },
    ...merge,
    deny: ['arbitrary-node:patch resourceclaims/driver'],
  },
  {
    name: 'resourceclaims: create with admin access in a namespace without the label',
    method: 'POST',
    path: CLAIMS,
    body: {
      ...meta('c3'),
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', adminAccess: true } }] } },
    },
  },
];

export const RIGHTS_CASES: readonly AuthorizationCase[] = [
  ...GRANTS,
  ...CERTIFICATES,
  ...ADMISSION_POLICIES,
  ...CLAIM_CASES,
];
