import { describe, expect, it } from 'vitest';
import { ruleMatches, type WebhookRule } from './webhook-rules.js';

const RULE: WebhookRule = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
  scope: '*',
};
const REQUEST = {
  operation: 'CREATE',
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  subresource: '',
  namespace: 'shop',
};

describe('a webhook rule', () => {
  it('matches by operation, group and version, or by a wildcard', () => {
    expect(ruleMatches(RULE, REQUEST)).toBe(true);
    expect(ruleMatches(RULE, { ...REQUEST, operation: 'DELETE' })).toBe(false);
    expect(ruleMatches({ ...RULE, operations: ['*'] }, { ...REQUEST, operation: 'CONNECT' })).toBe(true);
    expect(ruleMatches({ ...RULE, apiGroups: [''] }, REQUEST)).toBe(false);
    expect(ruleMatches({ ...RULE, apiGroups: ['*'] }, REQUEST)).toBe(true);
    expect(ruleMatches({ ...RULE, apiVersions: ['v1beta1'] }, REQUEST)).toBe(false);
    expect(ruleMatches({ ...RULE, apiVersions: ['*'] }, REQUEST)).toBe(true);
  });

  it.each([
    ['deployments', '', true],
    ['deployments', 'scale', false],
    ['deployments/scale', 'scale', true],
    ['deployments/scale', '', false],
    ['deployments/*', '', true],
    ['deployments/*', 'status', true],
    ['*', '', true],
    ['*', 'status', false],
    ['*/status', 'status', true],
    ['*/status', '', false],
    ['*/*', 'scale', true],
    ['*/*', '', true],
    ['pods/*', '', false],
  ])(
    'for resources %s compared with deployments and subresource "%s" matches: %s',
    (resource, subresource, expected) => {
      expect(ruleMatches({ ...RULE, resources: [resource] }, { ...REQUEST, subresource })).toBe(expected);
    },
  );

  it('matches by scope, with namespaces in scope Cluster', () => {
    const ofCluster = { ...REQUEST, namespace: '' };
    const namespace = { ...REQUEST, namespace: 'shop', resource: { group: '', version: 'v1', resource: 'namespaces' } };
    const rule = { ...RULE, apiGroups: ['*'], resources: ['*'] };
    const scopes = ['Namespaced', 'Cluster', '*', 'Odd'];
    const matches = (request: typeof REQUEST) => scopes.map((scope) => ruleMatches({ ...rule, scope }, request));
    expect(matches(REQUEST)).toEqual([true, false, true, false]);
    expect(matches(ofCluster)).toEqual([false, true, true, false]);
    expect(matches(namespace)).toEqual([false, true, true, false]);
  });
});
