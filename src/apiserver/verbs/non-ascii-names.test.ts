import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Identity } from '../../http/identity.js';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { startTestApiServer, type TestAnswer, type TestApiServer } from '../api-server.fixture.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const BINDINGS = `${RBAC}/clusterrolebindings`;
const READER: Identity = { kind: 'established', user: 'reader', uid: '', groups: [], extra: new Map() };

let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
});

afterAll(() => api.close());

function binding(name: string, role = 'cluster-admin', user = 'intruder'): JsonObject {
  return {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
}

const namesOf = ({ body }: TestAnswer): string[] => (body['items'] as JsonObject[]).map(nameOf);

describe('objects with names outside ASCII', () => {
  it.each(['backdöor', '夜🌙', 'ÿ', '\ufffd'])('%s is read, changed and deleted by its name', async (name) => {
    const path = `${BINDINGS}/${encodeURIComponent(name)}`;
    expect((await api.ask('POST', BINDINGS, { body: binding(name) })).status).toBe(201);
    expect(nameOf((await api.ask('GET', path)).body)).toBe(name);
    expect((await api.ask('PATCH', path, { body: { metadata: { labels: { a: 'b' } } } })).status).toBe(200);
    expect((await api.ask('DELETE', path)).status).toBe(200);
    expect((await api.ask('GET', path)).status).toBe(404);
  });

  it('are selected by field, percent-encoded or as raw octets, and watched', async () => {
    await api.ask('POST', BINDINGS, { body: binding('wächter') });
    const raw = Buffer.from('metadata.name=wächter').toString('latin1');
    for (const selector of [encodeURIComponent('metadata.name=wächter'), raw]) {
      expect(namesOf(await api.ask('GET', `${BINDINGS}?fieldSelector=${selector}`))).toEqual(['wächter']);
    }
    const selector = encodeURIComponent('metadata.name=wächter');
    const watch = await api.watch(`${BINDINGS}?watch=1&resourceVersion=0&fieldSelector=${selector}`);
    expect(nameOf((await watch.next())!.object)).toBe('wächter');
    watch.cancel();
  });

  it('are positions of continue tokens', async () => {
    const names = ['zä', 'zö', 'zü'];
    for (const name of names) await api.ask('POST', BINDINGS, { body: binding(name) });
    const seen: string[] = [];
    let next = '';
    do {
      const page = await api.ask('GET', `${BINDINGS}?limit=1&continue=${encodeURIComponent(next)}`);
      seen.push(...namesOf(page));
      next = String((page.body['metadata'] as JsonObject)['continue'] ?? '');
    } while (next !== '');
    expect(seen.filter((name) => name.startsWith('z'))).toEqual(names);
  });

  it('are matched by resourceNames of a role', async () => {
    const rules = [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterrolebindings'],
        resourceNames: ['lesbär'],
        verbs: ['get'],
      },
    ];
    await api.ask('POST', `${RBAC}/clusterroles`, { body: { metadata: { name: 'leser-ä' }, rules } });
    await api.ask('POST', BINDINGS, { body: binding('lesbär', 'leser-ä', 'reader') });
    expect((await api.ask('GET', `${BINDINGS}/lesb%C3%A4r`, { as: READER })).status).toBe(200);
    expect((await api.ask('GET', `${BINDINGS}/lesb%E4r`, { as: READER })).status).toBe(403);
  });

  it('are not found by names that are not UTF-8', async () => {
    for (const name of ['\ufffd', 'ÿ']) await api.ask('POST', BINDINGS, { body: binding(name) });
    for (const encoded of ['%FF', '%FE', '%ED%B3%BF']) {
      expect((await api.ask('GET', `${BINDINGS}/${encoded}`)).status, encoded).toBe(404);
      expect((await api.ask('DELETE', `${BINDINGS}/${encoded}`)).status, encoded).toBe(404);
      const merge = { 'content-type': 'application/apply-patch+yaml' };
      const patch = { body: { apiVersion: 'v1', kind: 'X' }, headers: merge };
      expect((await api.ask('PATCH', `${BINDINGS}/${encoded}?fieldManager=x`, patch)).status, encoded).toBe(404);
    }
    expect(namesOf(await api.ask('GET', BINDINGS))).toEqual(expect.arrayContaining(['\ufffd', 'ÿ']));
  });
});
