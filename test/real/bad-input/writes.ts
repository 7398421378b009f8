import {
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  GADGETS,
  gadget,
  NAMESPACE,
  type OddRequest,
  PODS,
  TOO_MANY_VALUES,
} from './request.js';

/** Bodies that can be read, but do not belong where they are sent. */
export const WRITES: readonly OddRequest[] = [
  { what: 'a name with capitals', path: CONFIG_MAPS, body: configMap('Upper') },
  { what: 'a name with a slash', path: CONFIG_MAPS, body: configMap('a/b') },
  { what: 'a name of dots', path: CONFIG_MAPS, body: configMap('..') },
  { what: 'a name that is too long', path: CONFIG_MAPS, body: configMap('a'.repeat(254)) },
  { what: 'no name', path: CONFIG_MAPS, body: configMap('') },
  { what: 'a prefix that is none', path: CONFIG_MAPS, body: configMap('', { metadata: { generateName: 'UPPER-' } }) },
  {
    what: 'a label that is none',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', labels: { 'a b': 'c d' } } }),
  },
  {
    what: 'another namespace',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', namespace: 'default' } }),
  },
  { what: 'a namespace that is not there', path: '/api/v1/namespaces/absent/configmaps', body: configMap('a') },
  {
    what: 'a namespace for a cluster-wide kind',
    path: '/api/v1/namespaces',
    body: { metadata: { name: 'spaced', namespace: 'odd' } },
  },
  {
    what: 'a resourceVersion at creation',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'versioned', resourceVersion: '5' } }),
  },
  {
    what: 'a resourceVersion that is none',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'versioned', resourceVersion: 'x' } }),
  },
  {
    what: 'an owner without uid',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] } }),
  },
  {
    what: 'two controllers',
    path: CONFIG_MAPS,
    body: configMap('a', {
      metadata: {
        name: 'a',
        ownerReferences: ['p', 'q'].map((name) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          name,
          uid: name,
          controller: true,
        })),
      },
    }),
  },
  {
    what: 'a finalizer that is none',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', finalizers: ['x'] } }),
  },
  { what: 'what exists', path: '/api/v1/namespaces', body: { metadata: { name: 'odd' } } },
  { what: 'a creation with a name in the path', path: `${CONFIG_MAPS}/known`, body: configMap('known') },
  { what: 'a creation in all namespaces', path: '/api/v1/configmaps', body: configMap('a') },
  { what: 'a replacement under another name', method: 'PUT', path: `${CONFIG_MAPS}/known`, body: configMap('other') },
  { what: 'a replacement without name', method: 'PUT', path: `${CONFIG_MAPS}/known`, body: configMap('') },
  {
    what: 'a replacement of what is not there',
    method: 'PUT',
    path: `${CONFIG_MAPS}/absent`,
    body: configMap('absent'),
  },
  {
    what: 'a replacement of a stale version',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', resourceVersion: '1' } }),
  },
  {
    what: 'a replacement of version 0',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', resourceVersion: '0' } }),
  },
  {
    what: 'a replacement of a version that is none',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', resourceVersion: 'abc' } }),
  },
  {
    what: 'a replacement of a version below zero',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', resourceVersion: '-1' } }),
  },
  {
    what: 'a replacement of another uid',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', uid: 'x' } }),
  },
  {
    what: 'a replacement in another namespace',
    method: 'PUT',
    path: `${CONFIG_MAPS}/known`,
    body: configMap('a', { metadata: { name: 'known', namespace: 'default' } }),
  },
  {
    what: 'a replacement of a custom resource without version',
    method: 'PUT',
    path: `${GADGETS}/known`,
    body: gadget('known', {}),
  },
  {
    what: 'a custom resource without kind',
    path: GADGETS,
    body: { apiVersion: 'odd.example.test/v1', metadata: { name: 'a' } },
  },
  { what: 'a custom resource without version', path: GADGETS, body: { kind: 'Gadget', metadata: { name: 'a' } } },
  { what: 'a custom resource of another kind', path: GADGETS, body: { ...gadget('a', {}), kind: 'Widget' } },
  {
    what: 'a custom resource of another version',
    path: GADGETS,
    body: { ...gadget('a', {}), apiVersion: 'odd.example.test/v2' },
  },
  {
    what: 'a custom resource with unknown fields',
    path: `${GADGETS}?fieldValidation=Strict`,
    body: gadget('a', { colour: 1 }),
  },
  {
    what: 'a custom resource with doubled fields',
    path: `${GADGETS}?fieldValidation=Strict`,
    body: JSON.stringify(gadget('a', { size: 1 })).replace('"size":1', '"size":1,"size":2'),
  },
  { what: 'a custom resource of the wrong types', path: GADGETS, body: gadget('a', { size: 'big', text: 5 }) },
  {
    what: 'a custom resource with metadata of the wrong types',
    path: GADGETS,
    body: gadget('a', {}, { metadata: { name: 'a', labels: 'x' } }),
  },
  { what: 'a custom resource that breaks a rule', path: GADGETS, body: gadget('a', { size: 5, most: 1 }) },
  { what: 'a custom resource with an empty body', path: GADGETS, body: '' },
  {
    what: 'a scale that is none',
    method: 'PUT',
    path: `${DEPLOYMENTS}/known/scale`,
    body: { spec: { replicas: 'x' } },
  },
  { what: 'a scale of another kind', method: 'PUT', path: `${DEPLOYMENTS}/known/scale`, body: deployment('known') },
  {
    what: 'a scale below zero',
    method: 'PUT',
    path: `${DEPLOYMENTS}/known/scale`,
    body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'known' }, spec: { replicas: -1 } },
  },
  {
    what: 'a binding without target',
    path: `${PODS}/absent/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'absent' } },
  },
  {
    what: 'an eviction of nothing',
    path: `${PODS}/absent/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'absent' } },
  },
  { what: 'an eviction of another kind', path: `${PODS}/absent/eviction`, body: configMap('absent') },
  {
    what: 'a token for nobody',
    path: `${NAMESPACE}/serviceaccounts/absent/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  },
  {
    what: 'a review of nothing',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {} },
  },
  { what: 'a review with no body', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body: '' },
];

/** Objects whose check is as long as their author could make it. */
export const HOSTILE: readonly OddRequest[] = [
  { what: 'a text that backtracks', path: GADGETS, body: gadget('back', { backtracks: `${'a'.repeat(100_000)}!` }) },
  {
    what: 'a list that a rule compares with itself',
    path: GADGETS,
    body: gadget('pairs', { pairs: Array(400).fill(1) }),
  },
  {
    what: 'a list that is too long for its rule',
    path: GADGETS,
    body: gadget('pairs', { pairs: Array(100_000).fill(1) }),
    deliberately: TOO_MANY_VALUES,
  },
  { what: 'two thousand wrong items', path: GADGETS, body: gadget('wrong', { pairs: Array(2_000).fill('x') }) },
];
