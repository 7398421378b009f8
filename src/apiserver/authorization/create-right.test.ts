import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';
import { userWith } from '../user-with.fixture.js';

const ACCOUNT = 'system:serviceaccount:default:patcher';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let server: TestApiServer;
beforeAll(async () => {
  server = await startTestApiServer();
  // No controller runs here that would make it.
  await server.ask('POST', '/api/v1/namespaces/kube-system/serviceaccounts', {
    body: { metadata: { name: 'default' } },
  });
});
afterAll(() => server.close());

const HOST_POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'intruder' },
  spec: { hostPID: true, containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] },
};

describe('a request that would create an object needs the right to create it', () => {
  it('refuses server-side apply of a missing pod to a service account without create on pods', async () => {
    const patcher = await userWith(server, ACCOUNT, [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch'] },
    ]);
    const target = '/api/v1/namespaces/kube-system/pods/intruder?fieldManager=kubectl';
    const answer = await server.ask('PATCH', target, { body: HOST_POD, headers: APPLY, as: patcher });
    expect(answer.body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'pods "intruder" is forbidden: User "system:serviceaccount:default:patcher" cannot create resource "pods" in API group "" in the namespace "kube-system"',
      details: { name: 'intruder', kind: 'pods' },
    });
    expect((await server.ask('GET', '/api/v1/namespaces/kube-system/pods/intruder')).status).toBe(404);
  });

  it.each([
    ['leases', '/apis/coordination.k8s.io/v1', 'coordination.k8s.io', { spec: { holderIdentity: 'x' } }],
    ['services', '/api/v1', '', { spec: { ports: [{ port: 80 }] } }],
    ['endpoints', '/api/v1', '', { subsets: [] }],
    ['events', '/api/v1', '', { involvedObject: { namespace: 'default' } }],
    ['limitranges', '/api/v1', '', { spec: { limits: [] } }],
    [
      'rolebindings',
      '/apis/rbac.authorization.k8s.io/v1',
      'rbac.authorization.k8s.io',
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
      },
    ],
  ])('refuses PUT of a missing object of %s to a user with update only', async (resource, base, group, rest) => {
    const updater = await userWith(server, `updater-of-${resource}`, [
      { apiGroups: [group], resources: [resource], verbs: ['get', 'update'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'] },
    ]);
    const target = `${base}/namespaces/default/${resource}/sneaked`;
    const body = { metadata: { name: 'sneaked', namespace: 'default' }, ...rest };
    const answer = await server.ask('PUT', target, { body, as: updater });
    expect(answer.body).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(answer.body['message']).toContain(`cannot create resource "${resource}" in API group "${group}"`);
    expect((await server.ask('GET', target)).status).toBe(404);
  });

  it('allows apply and PUT of a missing object to a user who may create an object of that name', async () => {
    const named = await userWith(server, 'named-creator', [
      { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'], verbs: ['patch', 'update'] },
      {
        apiGroups: ['', 'coordination.k8s.io'],
        resources: ['configmaps', 'leases'],
        resourceNames: ['mine'],
        verbs: ['create'],
      },
    ]);
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } };
    const maps = '/api/v1/namespaces/default/configmaps';
    const apply = (name: string) =>
      server.ask('PATCH', `${maps}/${name}?fieldManager=x`, {
        body: { ...configMap, metadata: { name } },
        headers: APPLY,
        as: named,
      });
    expect((await apply('mine')).status).toBe(201);
    expect((await apply('other')).status).toBe(403);
    const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/mine';
    expect((await server.ask('PUT', lease, { body: { metadata: { name: 'mine' } }, as: named })).status).toBe(201);
  });

  it('still lets a user with patch only apply to an object that exists', async () => {
    const patcher = await userWith(server, 'config-patcher', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] },
    ]);
    const maps = '/api/v1/namespaces/default/configmaps';
    await server.ask('POST', maps, { body: { metadata: { name: 'there' } } });
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'there' }, data: { a: 'b' } };
    const answer = await server.ask('PATCH', `${maps}/there?fieldManager=x`, { body, headers: APPLY, as: patcher });
    expect(answer.status).toBe(200);
  });
});
