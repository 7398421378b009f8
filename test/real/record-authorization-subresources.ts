import type { JsonObject } from '../../src/kube/json.js';
import {
  type AuthorizationCase,
  CORE,
  CUSTOM,
  deployment,
  meta,
  NAMESPACE,
  patchType,
  pod,
  post,
  type RecordedRequest,
} from './record-authorization-case.js';

const PODS = `${CORE}/pods`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const WIDGETS = `${CUSTOM}/namespaces/${NAMESPACE}/widgets`;

const eviction = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  ...meta(name),
  ...more,
});
const binding = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Binding',
  ...meta(name),
  target: { kind: 'Node', name: 'anywhere' },
  ...more,
});
const tokenRequest = (spec: JsonObject): JsonObject => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec,
});
const scale = (name: string, replicas: number, namespace = NAMESPACE): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, namespace },
  spec: { replicas },
});

const withPod = (name: string): { readonly setup: readonly RecordedRequest[] } => ({ setup: [post(PODS, pod(name))] });

const EVICTIONS: readonly AuthorizationCase[] = [
  { name: 'eviction', method: 'POST', path: `${PODS}/e1/eviction`, body: eviction('e1'), ...withPod('e1') },
  {
    name: 'eviction as a dry run',
    method: 'POST',
    path: `${PODS}/e2/eviction?dryRun=All`,
    body: eviction('e2'),
    ...withPod('e2'),
  },
  {
    name: 'eviction as a dry run by its options',
    method: 'POST',
    path: `${PODS}/e2/eviction`,
    body: eviction('e2', { deleteOptions: { dryRun: ['All'] } }),
  },
  {
    name: 'eviction without the right',
    method: 'POST',
    path: `${PODS}/e2/eviction`,
    body: eviction('e2'),
    deny: ['create pods/eviction'],
  },
  {
    name: 'eviction without the right to delete pods',
    method: 'POST',
    path: `${PODS}/e2/eviction?dryRun=All`,
    body: eviction('e2'),
    deny: ['delete pods'],
  },
  { name: 'eviction of another name', method: 'POST', path: `${PODS}/e2/eviction`, body: eviction('other') },
  {
    name: 'eviction without a name',
    method: 'POST',
    path: `${PODS}/e2/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction' },
  },
  { name: 'eviction of a missing pod', method: 'POST', path: `${PODS}/missing/eviction`, body: eviction('missing') },
  {
    name: 'eviction with another uid',
    method: 'POST',
    path: `${PODS}/e2/eviction`,
    body: eviction('e2', { deleteOptions: { preconditions: { uid: 'another' } } }),
  },
];

const BINDINGS: readonly AuthorizationCase[] = [
  { name: 'binding', method: 'POST', path: `${PODS}/b1/binding`, body: binding('b1'), ...withPod('b1') },
  { name: 'binding of a bound pod', method: 'POST', path: `${PODS}/b1/binding`, body: binding('b1') },
  {
    name: 'binding as a dry run',
    method: 'POST',
    path: `${PODS}/b2/binding?dryRun=All`,
    body: binding('b2'),
    ...withPod('b2'),
  },
  {
    name: 'binding without the right',
    method: 'POST',
    path: `${PODS}/b2/binding`,
    body: binding('b2'),
    deny: ['create pods/binding'],
  },
  { name: 'binding of another name', method: 'POST', path: `${PODS}/b2/binding`, body: binding('other') },
  { name: 'binding without a target', method: 'POST', path: `${PODS}/b2/binding`, body: binding('b2', { target: {} }) },
  { name: 'binding of a missing pod', method: 'POST', path: `${PODS}/missing/binding`, body: binding('missing') },
  { name: 'bindings: create', method: 'POST', path: `${CORE}/bindings`, body: binding('b2') },
  {
    name: 'bindings: create without the right',
    method: 'POST',
    path: `${CORE}/bindings`,
    body: binding('b2'),
    deny: ['create bindings'],
  },
  { name: 'bindings: create of a missing pod', method: 'POST', path: `${CORE}/bindings`, body: binding('missing') },
  { name: 'bindings: create without a namespace', method: 'POST', path: '/api/v1/bindings', body: binding('b2') },
];

const TOKENS: readonly AuthorizationCase[] = [
  {
    name: 'token',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({ audiences: ['a'] }),
  },
  {
    name: 'token for the default audience',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({}),
  },
  {
    name: 'token without the right',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({}),
    deny: ['create serviceaccounts/token'],
  },
  {
    name: 'token as a dry run',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token?dryRun=All`,
    body: tokenRequest({ audiences: ['a'] }),
  },
  {
    name: 'token of a missing account',
    method: 'POST',
    path: `${CORE}/serviceaccounts/missing/token`,
    body: tokenRequest({}),
  },
  {
    name: 'token that lives too short',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({ expirationSeconds: 5 }),
  },
  {
    name: 'token bound to a pod',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({ audiences: ['a'], boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'of-robot' } }),
    setup: [post(PODS, pod('of-robot', { serviceAccountName: 'robot' }))],
  },
  {
    name: 'token bound to a missing pod',
    method: 'POST',
    path: `${CORE}/serviceaccounts/robot/token`,
    body: tokenRequest({ audiences: ['a'], boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'missing' } }),
  },
];

function scales(
  resource: string,
  path: string,
  setup: readonly RecordedRequest[],
  namespace = NAMESPACE,
): AuthorizationCase[] {
  const target = `${path}/scaled/scale`;
  return [
    { name: `${resource}/scale: get`, method: 'GET', path: target, setup },
    { name: `${resource}/scale: update`, method: 'PUT', path: target, body: scale('scaled', 2, namespace) },
    {
      name: `${resource}/scale: update as a dry run`,
      method: 'PUT',
      path: `${target}?dryRun=All`,
      body: scale('scaled', 3, namespace),
    },
    {
      name: `${resource}/scale: merge patch`,
      method: 'PATCH',
      path: target,
      body: { spec: { replicas: 4 } },
      headers: patchType('merge'),
    },
    {
      name: `${resource}/scale: update without the right`,
      method: 'PUT',
      path: target,
      body: scale('scaled', 2, namespace),
      deny: [`update ${resource}/scale`],
    },
    {
      name: `${resource}/scale: update without the right to update the object`,
      method: 'PUT',
      path: target,
      body: scale('scaled', 5, namespace),
      deny: [`update ${resource}`],
    },
    {
      name: `${resource}/scale: update of a missing object`,
      method: 'PUT',
      path: `${path}/missing/scale`,
      body: scale('missing', 2, namespace),
    },
  ];
}

const replicaSet = (name: string): JsonObject => deployment(name);

const SCALES: readonly AuthorizationCase[] = [
  ...scales('deployments', DEPLOYMENTS, [post(DEPLOYMENTS, deployment('scaled'))]),
  ...scales('replicasets', DEPLOYMENTS.replace('deployments', 'replicasets'), [
    post(DEPLOYMENTS.replace('deployments', 'replicasets'), replicaSet('scaled')),
  ]),
  ...scales('widgets', WIDGETS, [
    post(WIDGETS, { apiVersion: 'example.test/v1', kind: 'Widget', ...meta('scaled'), spec: { replicas: 1 } }),
  ]),
];

const ephemeral = { spec: { ephemeralContainers: [{ name: 'debug', image: 'i', terminationMessagePolicy: 'File' }] } };
const resized = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }] } };

const POD_PARTS: readonly AuthorizationCase[] = [
  {
    name: 'pods/ephemeralcontainers: get',
    method: 'GET',
    path: `${PODS}/parts/ephemeralcontainers`,
    ...withPod('parts'),
  },
  {
    name: 'pods/ephemeralcontainers: patch',
    method: 'PATCH',
    path: `${PODS}/parts/ephemeralcontainers`,
    body: ephemeral,
    headers: patchType('strategic-merge'),
  },
  {
    name: 'pods/ephemeralcontainers: patch without the right',
    method: 'PATCH',
    path: `${PODS}/parts/ephemeralcontainers`,
    body: ephemeral,
    headers: patchType('strategic-merge'),
    deny: ['patch pods/ephemeralcontainers'],
  },
  {
    name: 'pods/ephemeralcontainers: patch of a missing pod',
    method: 'PATCH',
    path: `${PODS}/missing/ephemeralcontainers`,
    body: ephemeral,
    headers: patchType('strategic-merge'),
  },
  { name: 'pods/resize: get', method: 'GET', path: `${PODS}/parts/resize` },
  {
    name: 'pods/resize: patch',
    method: 'PATCH',
    path: `${PODS}/parts/resize`,
    body: resized,
    headers: patchType('strategic-merge'),
  },
  {
    name: 'pods/resize: patch without the right',
    method: 'PATCH',
    path: `${PODS}/parts/resize`,
    body: resized,
    headers: patchType('strategic-merge'),
    deny: ['patch pods/resize'],
  },
  {
    name: 'pods/status: patch',
    method: 'PATCH',
    path: `${PODS}/parts/status`,
    body: { status: { message: 'm' } },
    headers: patchType('strategic-merge'),
  },
];

const NAMESPACE_PARTS: readonly AuthorizationCase[] = [
  {
    name: 'namespaces/status: patch',
    method: 'PATCH',
    path: '/api/v1/namespaces/parted/status',
    body: { metadata: { labels: { a: 'b' } } },
    headers: patchType('merge'),
    setup: [post('/api/v1/namespaces', meta('parted'))],
  },
  { name: 'namespaces/status: get', method: 'GET', path: '/api/v1/namespaces/parted/status' },
  {
    name: 'namespaces/finalize: update',
    method: 'PUT',
    path: '/api/v1/namespaces/parted/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', ...meta('parted'), spec: { finalizers: [] } },
  },
  {
    name: 'namespaces/finalize: update without the right',
    method: 'PUT',
    path: '/api/v1/namespaces/parted/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', ...meta('parted'), spec: { finalizers: [] } },
    deny: ['update namespaces/finalize'],
  },
];

export const SUBRESOURCE_CASES: readonly AuthorizationCase[] = [
  ...EVICTIONS,
  ...BINDINGS,
  ...TOKENS,
  ...SCALES,
  ...POD_PARTS,
  ...NAMESPACE_PARTS,
];
