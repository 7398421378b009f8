import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { startTestApiServer } from '../api-server.fixture.js';
import { user } from '../reviews/recorded.fixture.js';
import { aggregatedRules, defaultRbacObjects, reconcileBinding, reconcileRole } from './default-roles.js';
import { createRbacAuthorizer } from './rbac.js';
import { StoredObjects } from './stored-objects.fixture.js';

const defaults = defaultRbacObjects(36);
const find = (kind: string, name: string): JsonObject =>
  defaults.find((each) => each.kind === kind && (each.metadata as JsonObject).name === name)!;

describe('defaultRbacObjects', () => {
  it('are the default roles and bindings of kube-apiserver', () => {
    const count = (kind: string) => defaults.filter((each) => each.kind === kind).length;
    expect(count('ClusterRole')).toBeGreaterThan(60);
    expect(count('ClusterRoleBinding')).toBeGreaterThan(40);
    expect(count('Role')).toBeGreaterThan(5);
    expect(count('RoleBinding')).toBeGreaterThan(5);
    for (const name of [
      'cluster-admin',
      'admin',
      'edit',
      'view',
      'system:discovery',
      'system:node',
      'system:basic-user',
    ]) {
      expect(find('ClusterRole', name)).toBeDefined();
    }
  });

  it('have the label and annotation for reconciliation', () => {
    expect(find('ClusterRole', 'edit').metadata).toEqual({
      name: 'edit',
      labels: {
        'kubernetes.io/bootstrapping': 'rbac-defaults',
        'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
      },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    });
  });

  it('have the rules of aggregated roles, transitively', () => {
    const objects = new StoredObjects(defaults);
    const bind = (role: string, name: string): JsonObject => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: role, namespace: 'ns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'User', name }],
    });
    for (const role of ['admin', 'edit', 'view']) objects.put(bind(role, role));
    const rbac = createRbacAuthorizer(objects);
    const may = (name: string, verb: string, resource: string, group = '') =>
      rbac.authorize({
        user: user(name),
        verb,
        group,
        version: 'v1',
        resource,
        subresource: '',
        namespace: 'ns',
        name: '',
      }).allowed;
    expect(may('view', 'list', 'pods')).toBe(true);
    expect(may('view', 'list', 'secrets')).toBe(false);
    expect(may('edit', 'list', 'pods')).toBe(true);
    expect(may('edit', 'create', 'deployments', 'apps')).toBe(true);
    expect(may('edit', 'create', 'roles', 'rbac.authorization.k8s.io')).toBe(false);
    expect(may('admin', 'create', 'roles', 'rbac.authorization.k8s.io')).toBe(true);
    expect(may('admin', 'list', 'pods')).toBe(true);
  });

  it('are not changed by reconciliation', () => {
    for (const each of defaults) {
      const change = (each.kind as string).endsWith('Role') ? reconcileRole(each, each) : reconcileBinding(each, each);
      expect(change).toBeUndefined();
    }
  });
});

describe('the default roles of a version', () => {
  const names = (minor: number, kind: string) =>
    defaultRbacObjects(minor)
      .filter((each) => each.kind === kind)
      .map(nameOf);
  const NEW_CONTROLLERS = [
    'system:controller:kube-apiserver-serving-clustertrustbundle-publisher',
    'system:controller:podcertificaterequestcleaner',
    'system:controller:storage-version-migrator-controller',
  ];

  it('are those of kube-apiserver of that version: 1.37 has some more than 1.36', () => {
    const added = ['system:cluster-trust-bundle-discovery', ...NEW_CONTROLLERS];
    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
      expect(names(37, kind)).toEqual(expect.arrayContaining(added));
      expect(names(36, kind).filter((each) => added.includes(each))).toEqual([]);
    }
  });

  it('are made at the start on the store of an older server, and kept by an older one', async () => {
    const older = await startTestApiServer({ version: '1.36' });
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${NEW_CONTROLLERS[1]}`;
    expect((await older.ask('GET', path)).status).toBe(404);
    for (const version of ['1.37', '1.36']) {
      const other = await startTestApiServer({ version, backend: older.backend });
      expect((await other.ask('GET', path)).body).toMatchObject({ kind: 'ClusterRole', rules: expect.any(Array) });
      await other.close();
    }
    await older.close();
  });
});

describe('aggregatedRules', () => {
  const role = (name: string, labels: JsonObject, rules: JsonObject[]): JsonObject => ({
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules,
  });
  const gathering: JsonObject = {
    ...role('all', { a: 'b' }, []),
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { a: 'b' } }, { matchExpressions: [{ key: 'c', operator: 'Exists' }] }],
    },
  };
  const one = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
  const two = { verbs: ['list'], apiGroups: [''], resources: ['pods'] };

  it('collects rules by selector and role name, each once, without the rules of the aggregating role', () => {
    const roles = [role('z', { a: 'b' }, [one]), gathering, role('b', { a: 'b' }, [two]), role('c', { c: '' }, [one])];
    expect(aggregatedRules(gathering, roles)).toEqual([two, one]);
  });

  it('is undefined for a role without an aggregation rule', () => {
    expect(aggregatedRules(role('x', {}, [one]), [])).toBeUndefined();
  });
});

describe('reconcileRole', () => {
  const wanted = find('ClusterRole', 'system:kube-scheduler');

  it('adds missing rules and metadata, and keeps additions of users', () => {
    const extra = { verbs: ['get'], apiGroups: ['example.test'], resources: ['widgets'] };
    const [first, ...rest] = wanted.rules as JsonObject[];
    const live = {
      ...wanted,
      metadata: { name: 'system:kube-scheduler', labels: { added: 'x' } },
      rules: [...rest, extra],
    };
    const result = reconcileRole(live, wanted)!;
    expect(result.metadata).toMatchObject({ labels: { added: 'x', 'kubernetes.io/bootstrapping': 'rbac-defaults' } });
    expect(result.rules).toEqual(expect.arrayContaining([...rest, extra]));
    expect((result.rules as JsonObject[]).length).toBeGreaterThan(rest.length + 1);
    expect(first).toBeDefined();
    expect(reconcileRole(result, wanted)).toBeUndefined();
  });

  it('does not change a role with autoupdate switched off', () => {
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    expect(reconcileRole({ ...wanted, metadata: { annotations }, rules: [] }, wanted)).toBeUndefined();
  });

  it('restores the selectors of an aggregated role, not its rules', () => {
    const view = find('ClusterRole', 'view');
    const live = { ...view, aggregationRule: { clusterRoleSelectors: [] }, rules: [] };
    expect(reconcileRole(live, view)).toEqual({ ...live, aggregationRule: view.aggregationRule });
  });
});

describe('reconcileBinding', () => {
  const wanted = find('ClusterRoleBinding', 'cluster-admin');

  it('adds missing subjects', () => {
    const mine = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'me' };
    const change = reconcileBinding({ ...wanted, subjects: [mine] }, wanted)!;
    expect(change.action).toBe('update');
    expect(change.object.subjects).toEqual([mine, ...(wanted.subjects as JsonObject[])]);
  });

  it('recreates a binding to another role', () => {
    const live = { ...wanted, roleRef: { ...(wanted.roleRef as JsonObject), name: 'view' } };
    expect(reconcileBinding(live, wanted)).toEqual({ action: 'recreate', object: wanted });
  });
});
