import type { Identity } from '../http/identity.js';
import type { JsonObject } from '../kube/json.js';
import type { TestApiServer } from './api-server.fixture.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** A user of that name with exactly these rules, everywhere. */
export async function userWith(server: TestApiServer, name: string, rules: readonly JsonObject[]): Promise<Identity> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `of:${name}` };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }];
  const metadata = { name: roleRef.name };
  const role: JsonObject = { metadata, rules: [...rules] };
  const binding: JsonObject = { metadata, subjects, roleRef };
  for (const [resource, body] of Object.entries({ clusterroles: role, clusterrolebindings: binding })) {
    const { status, text } = await server.ask('POST', `${RBAC}/${resource}`, { body });
    if (status !== 201) throw new Error(text);
  }
  return { kind: 'established', user: name, uid: 'u', groups: [], extra: new Map() };
}
