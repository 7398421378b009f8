import { call, type Endpoint } from './http-client.js';

export function namespaceName(scenario: number): string {
  return `scenario-${scenario}-${Date.now().toString(36)}`;
}

/** A namespace with its default service account, which no controller may be there to make. Answers its name. */
export async function makeNamespace(admin: Endpoint, name: string): Promise<string> {
  const create = async (path: string, body: object): Promise<void> => {
    const answer = await call(admin, path, { method: 'POST', body });
    const isThere = answer.status === 201 || answer.json()['reason'] === 'AlreadyExists';
    if (!isThere) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  };
  await create('/api/v1/namespaces', { metadata: { name } });
  await create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  return name;
}
