import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import type { User } from '../contracts/user.js';
import { recorded, recordedWorld, user } from '../reviews/recorded.fixture.js';
import { goQuote } from '../values/go-quote.js';
import type { ResourceAttributes } from './authorizer.js';
import { forbiddenError, forbiddenMessage } from './forbidden.js';
import { createRbacAuthorizer } from './rbac.js';
import { StoredObjects } from './stored-objects.fixture.js';

const RBAC = 'rbac.authorization.k8s.io';

function role(kind: string, name: string, namespace: string | undefined, rules: JsonObject[]): JsonObject {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { name, ...(namespace ? { namespace } : {}) }, rules };
}

function binding(name: string, namespace: string | undefined, roleRef: JsonObject, subjects: JsonObject[]): JsonObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name, ...(namespace ? { namespace } : {}) },
    roleRef: { apiGroup: RBAC, ...roleRef },
    subjects,
  };
}

function wants(who: User, more: Partial<ResourceAttributes> = {}): ResourceAttributes {
  return {
    user: who,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'ns',
    name: '',
    ...more,
  };
}

const readPods = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
const toUser = (name: string): JsonObject[] => [{ kind: 'User', name }];

describe('createRbacAuthorizer', () => {
  it('applies every change at once, and reads lists only after a change', () => {
    const objects = new StoredObjects();
    const rbac = createRbacAuthorizer(objects);
    const ann = user('ann');
    const allowed = () => rbac.authorize(wants(ann)).allowed;
    expect(allowed()).toBe(false);
    const bound = binding('b', 'ns', { kind: 'Role', name: 'r' }, toUser('ann'));
    objects.put(bound);
    expect(rbac.authorize(wants(ann)).reason).toBe(`RBAC: role.${RBAC} "r" not found`);
    objects.put(role('Role', 'r', 'ns', readPods));
    expect(allowed()).toBe(true);
    const listed = objects.lists;
    for (let i = 0; i < 100; i++) expect(allowed()).toBe(true);
    expect(objects.lists).toBe(listed);
    objects.put(role('Role', 'r', 'ns', []));
    expect(allowed()).toBe(false);
    objects.put(role('Role', 'r', 'ns', readPods));
    objects.remove(bound);
    expect(allowed()).toBe(false);
    objects.put(role('ClusterRole', 'c', undefined, readPods));
    objects.put(binding('cb', undefined, { kind: 'ClusterRole', name: 'c' }, toUser('ann')));
    expect(allowed()).toBe(true);
  });

  it('stops listening when it is closed', () => {
    const objects = new StoredObjects();
    const rbac = createRbacAuthorizer(objects);
    rbac.authorize(wants(user('ann')));
    rbac.close();
    objects.put(role('ClusterRole', 'c', undefined, readPods));
    objects.put(binding('cb', undefined, { kind: 'ClusterRole', name: 'c' }, toUser('ann')));
    expect(rbac.authorize(wants(user('ann'))).allowed).toBe(false);
  });

  it('uses the namespace of a RoleBinding, not of a ClusterRoleBinding, for a service account subject without a namespace', () => {
    const subjects = [{ kind: 'ServiceAccount', name: 'sa' }];
    const objects = new StoredObjects([
      role('ClusterRole', 'c', undefined, readPods),
      binding('b', 'ns', { kind: 'ClusterRole', name: 'c' }, subjects),
      binding('cb', undefined, { kind: 'ClusterRole', name: 'c' }, subjects),
    ]);
    const rbac = createRbacAuthorizer(objects);
    const account = user('system:serviceaccount:ns:sa');
    expect(rbac.authorize(wants(account))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "c" to ServiceAccount "sa/ns"',
    });
    expect(rbac.authorize(wants(account, { namespace: '' })).allowed).toBe(false);
  });

  it('ignores a ClusterRoleBinding to a Role, and a RoleBinding to a Role of another namespace', () => {
    const objects = new StoredObjects([
      role('Role', 'r', 'ns', readPods),
      binding('cb', undefined, { kind: 'Role', name: 'r' }, toUser('ann')),
      binding('b', 'other', { kind: 'Role', name: 'r' }, toUser('bob')),
    ]);
    const rbac = createRbacAuthorizer(objects);
    expect(rbac.authorize(wants(user('ann'))).allowed).toBe(false);
    expect(rbac.authorize(wants(user('bob'), { namespace: 'other' })).allowed).toBe(false);
  });

  it('distinguishes a user from a group of the same name', () => {
    const objects = new StoredObjects([
      role('ClusterRole', 'c', undefined, readPods),
      binding('cb', undefined, { kind: 'ClusterRole', name: 'c' }, [{ kind: 'Group', name: 'ann' }]),
    ]);
    const rbac = createRbacAuthorizer(objects);
    expect(rbac.authorize(wants(user('ann'))).allowed).toBe(false);
    expect(rbac.authorize(wants(user('x', 'ann'))).allowed).toBe(true);
  });

  it('ignores malformed roles and bindings', () => {
    const objects = new StoredObjects([
      { ...role('ClusterRole', 'c', undefined, []), rules: [null, 5, { verbs: 'get', resources: [{}] }] },
      { ...binding('cb', undefined, { kind: 'ClusterRole', name: 'c' }, []), subjects: [null, 'x', { kind: 'User' }] },
      { ...binding('no-ref', undefined, {}, []), roleRef: null, subjects: toUser('ann') },
    ]);
    const rbac = createRbacAuthorizer(objects);
    expect(rbac.authorize(wants(user('ann'))).allowed).toBe(false);
    expect(rbac.authorize(wants(user('', '__proto__'))).allowed).toBe(false);
  });

  it('returns the rules of a binding once, even if its subjects match a user twice', () => {
    const rbac = createRbacAuthorizer(recordedWorld());
    const { rules } = rbac.rulesFor(user('bob', 'dev'), '');
    expect(rules.filter(({ resources }) => resources.includes('pods/log'))).toHaveLength(1);
  });

  it('decides 10,000 requests in less than 500 ms with 2,000 bindings', () => {
    const objects = new StoredObjects([role('ClusterRole', 'c', undefined, readPods)]);
    for (let i = 0; i < 2_000; i++) {
      objects.put(binding(`b-${i}`, undefined, { kind: 'ClusterRole', name: 'c' }, toUser(`user-${i}`)));
    }
    const rbac = createRbacAuthorizer(objects);
    const asked = wants(user('user-1999', 'system:authenticated'));
    expect(rbac.authorize(asked).allowed).toBe(true);
    const startMs = performance.now();
    for (let i = 0; i < 10_000; i++) rbac.authorize(asked);
    // Looking at every binding would take seconds.
    expect(performance.now() - startMs).toBeLessThan(500);
  });
});

describe('forbiddenMessage', () => {
  const alice = user('alice');

  it('contains the resource, the API group and the namespace', () => {
    expect(forbiddenMessage(wants(alice, { verb: 'list', namespace: 'default' }), '')).toBe(
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
    );
    const scaled = wants(alice, {
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      name: 'x',
      namespace: '',
    });
    expect(forbiddenMessage(scaled, 'RBAC: r')).toBe(
      'deployments.apps "x" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" at the cluster scope: RBAC: r',
    );
  });

  it('contains the path of a non-resource request', () => {
    expect(forbiddenMessage({ user: alice, verb: 'get', path: '/a' }, '')).toBe(
      'forbidden: User "alice" cannot get path "/a"',
    );
  });

  it('escapes HTML in the user name', () => {
    expect(forbiddenMessage({ user: user('<b>&'), verb: 'get', path: '/' }, '')).toContain('"&lt;b&gt;&amp;"');
  });

  it('is part of a Status equal to that of kube-apiserver', () => {
    const refused = recorded.impersonation.find(({ name }) => name === 'a user for one verb')!;
    const asked = wants(user('erin'), { verb: 'list', namespace: 'access' });
    expect(forbiddenError(asked, '').status).toEqual(refused.answer);
  });
});

describe('goQuote', () => {
  it.each([
    ['plain', '"plain"'],
    ['a "b" \\', '"a \\"b\\" \\\\"'],
    ['\n\x00\x7f\v', '"\\n\\x00\\x7f\\v"'],
    ['é 世 😀', '"é 世 😀"'],
    ['\u00a0\u2028\ufeff\u{e0001}', '"\\u00a0\\u2028\\ufeff\\U000e0001"'],
  ])('quotes %j as Go does', (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });
});
