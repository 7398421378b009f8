import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Identity } from '../../http/identity.js';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { startTestApiServer, type TestAnswer, type TestApiServer } from '../api-server.fixture.js';
import { type BuiltInSurface, readSurface } from '../surfaces/built-in-surface.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { SURFACE_FORMAT } from '../surfaces/surface-file.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const POLICIES = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** A user whose only right is everything on CustomResourceDefinitions, their status included. */
const DEFINER: Identity = { kind: 'established', user: 'definer', uid: '', groups: ['definers'], extra: new Map() };

let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
  const resources = ['customresourcedefinitions', 'customresourcedefinitions/status'];
  const rules = [{ apiGroups: ['apiextensions.k8s.io'], resources, verbs: ['*'] }];
  await made(`${RBAC}/clusterroles`, { metadata: { name: 'definer' }, rules });
  await made(`${RBAC}/clusterrolebindings`, {
    metadata: { name: 'definer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'definer' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'definers' }],
  });
  await made(POLICIES, { metadata: { name: 'deny-all' }, spec: { podSelector: {} } });
  await made(WEBHOOKS, { metadata: { name: 'guard' }, webhooks: [] });
});

afterAll(() => api.close());

async function made(path: string, body: JsonObject): Promise<void> {
  expect((await api.ask('POST', path, { body })).status, path).toBe(201);
}

async function countOf(path: string): Promise<number> {
  return ((await api.ask('GET', path)).body['items'] as unknown[]).length;
}

async function untilAnswer(
  path: string,
  isIt: (answer: TestAnswer) => boolean,
  server: TestApiServer = api,
): Promise<TestAnswer> {
  for (let tries = 0; tries < 20_000; tries++) {
    const answer = await server.ask('GET', path);
    if (isIt(answer)) return answer;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error(`gave up waiting for an answer to GET ${path}`);
}

interface Names {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope: string;
}

function definition({ group, plural, kind, scope }: Names, version = 'v9'): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    spec: {
      group,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

const TAKEN: readonly (Names & { readonly objects: string })[] = [
  {
    group: 'networking.k8s.io',
    plural: 'networkpolicies',
    kind: 'NetworkPolicy',
    scope: 'Namespaced',
    objects: POLICIES,
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    scope: 'Cluster',
    objects: WEBHOOKS,
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'clusterroles',
    kind: 'ClusterRole',
    scope: 'Cluster',
    objects: `${RBAC}/clusterroles`,
  },
];

const isEstablished = ({ body }: TestAnswer): boolean =>
  JSON.stringify(body['status']).includes('"type":"Established","status":"True"');

const isNotAccepted = ({ body }: TestAnswer): boolean =>
  JSON.stringify(body['status'] ?? {}).includes('"type":"NamesAccepted","status":"False"');

/** Kubernetes 1.36 with one more built-in resource, as a captured surface of a later version has. */
async function laterSurface({ group, plural, kind }: Names): Promise<BuiltInSurface> {
  const { capturedFrom, version, groups, types } = await loadSurface('1.36');
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  const resource = { name: plural, singular: kind.toLowerCase(), kind, namespaced: false, verbs };
  const added = { name: group, versions: [{ version: 'v1', resources: [resource] }] };
  return readSurface(
    JSON.stringify({ format: SURFACE_FORMAT, capturedFrom, version, types, groups: [...groups, added] }),
  );
}

describe('a CustomResourceDefinition of a resource that is built in to a later version', () => {
  const names = { group: 'future.k8s.io', plural: 'futures', kind: 'Future', scope: 'Cluster' };
  const path = '/apis/future.k8s.io/v1/futures';
  const future = (name: string): JsonObject => ({
    apiVersion: 'future.k8s.io/v1',
    kind: 'Future',
    metadata: { name },
  });
  const namesOf = ({ body }: TestAnswer): string[] => (body['items'] as JsonObject[]).map(nameOf);

  it('stores its objects apart from the built-in ones, and its deletion deletes only them', async () => {
    const older = await startTestApiServer();
    await older.ask('POST', DEFINITIONS, { body: definition(names, 'v1') });
    await untilAnswer(path, ({ status }) => status === 200, older);
    expect((await older.ask('POST', path, { body: future('custom') })).status).toBe(201);

    const later = await startTestApiServer({ backend: older.backend, surface: await laterSurface(names) });
    expect((await later.ask('POST', path, { body: future('built-in') })).status).toBe(201);
    expect(namesOf(await later.ask('GET', path))).toEqual(['built-in']);
    expect(namesOf(await older.ask('GET', path))).toEqual(['custom']);

    const definitionPath = `${DEFINITIONS}/futures.future.k8s.io`;
    await later.ask('DELETE', definitionPath);
    await untilAnswer(definitionPath, ({ status }) => status === 404, later);
    expect(namesOf(await later.ask('GET', path))).toEqual(['built-in']);
    expect((await older.backend.list('/registry/future.k8s.io/')).items).toEqual([]);
    await later.close();
    await older.close();
  });
});

describe('a CustomResourceDefinition named like a built-in resource', () => {
  it.each(TAKEN)('is refused for $plural in $group, and deleting it deletes no built-in object', async (taken) => {
    const { plural, group, objects } = taken;
    const before = await countOf(objects);
    const { status, body } = await api.ask('POST', DEFINITIONS, { body: definition(taken), as: DEFINER });
    if (status === 201) await untilAnswer(`${DEFINITIONS}/${plural}.${group}`, isEstablished);
    await api.ask('DELETE', `${DEFINITIONS}/${plural}.${group}`, { as: DEFINER });
    await untilAnswer(`${DEFINITIONS}/${plural}.${group}`, (answer) => answer.status === 404);
    expect(await countOf(objects)).toBe(before);
    expect([status, body['reason']]).toEqual([422, 'Invalid']);
    expect(String(body['message'])).toContain(`"${plural}": is built in to Kubernetes`);
  });

  it.each([
    ['a review, which is stored nowhere', 'authorization.k8s.io', 'subjectaccessreviews', '1.36'],
    ['a resource that only a newer version serves', 'scheduling.k8s.io', 'podgroups', '1.34'],
    ['a resource stored with another group', 'events.k8s.io', 'events', '1.36'],
    ['a resource that is off by default', 'internal.apiserver.k8s.io', 'storageversions', '1.36'],
  ])('is refused for %s', async (_, group, plural, version) => {
    const server = await startTestApiServer({ version });
    const body = definition({ group, plural, kind: 'Taken', scope: 'Cluster' });
    expect((await server.ask('POST', DEFINITIONS, { body })).status).toBe(422);
    await server.close();
  });

  it('is neither served nor cleaned up if it is stored and established already', async () => {
    for (const taken of TAKEN) {
      const { plural, group, objects } = taken;
      const name = `${plural}.${group}`;
      const before = await countOf(objects);
      const stored = definition(taken);
      const conditions = [
        { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: '' },
        { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: '' },
      ];
      const { names } = stored['spec'] as JsonObject;
      const object = {
        ...stored,
        metadata: { ...(stored['metadata'] as JsonObject), uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
        status: { conditions, acceptedNames: names, storedVersions: ['v9'] },
      };
      const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/${name}`;
      await api.backend.create(key, Buffer.from(JSON.stringify(object)));

      await untilAnswer(`${DEFINITIONS}/${name}`, isNotAccepted);
      expect((await api.ask('GET', objects.replace('/v1/', '/v9/'))).status, name).toBe(404);
      expect((await api.ask('DELETE', objects.replace('/v1/', '/v9/'))).status, name).toBe(404);
      await api.ask('DELETE', `${DEFINITIONS}/${name}`, { as: DEFINER });
      await untilAnswer(`${DEFINITIONS}/${name}`, (answer) => answer.status === 404);
      expect(await countOf(objects)).toBe(before);
    }
  });

  it('is refused while another server of the control plane serves that resource', async () => {
    const future = { group: 'future.k8s.io', plural: 'futures', kind: 'Future', scope: 'Cluster' };
    const server = await startTestApiServer({
      servingPeer: ({ group, resource }) => (`${resource}.${group}` === 'futures.future.k8s.io' ? 'newer' : undefined),
    });
    const refused = await server.ask('POST', DEFINITIONS, { body: definition(future) });
    expect([refused.status, String(refused.body['message'])]).toEqual([
      422,
      expect.stringContaining('is built in to server "newer" of this control plane'),
    ]);
    const other = { ...future, plural: 'pasts', kind: 'Past' };
    expect((await server.ask('POST', DEFINITIONS, { body: definition(other) })).status).toBe(201);
    await server.close();
  });

  it('is accepted again at once after its deletion, while another server still shows it in discovery', async () => {
    const names = { group: 'example.com', plural: 'widgets', kind: 'Widget', scope: 'Cluster' };
    let isShown = false;
    const server = await startTestApiServer({ servingPeer: () => (isShown ? 'slow' : undefined) });
    const path = `${DEFINITIONS}/widgets.example.com`;
    expect((await server.ask('POST', DEFINITIONS, { body: definition(names) })).status).toBe(201);
    await untilAnswer(path, isEstablished, server);
    isShown = true;
    await server.ask('DELETE', path);
    await untilAnswer(path, ({ status }) => status === 404, server);
    expect((await server.ask('POST', DEFINITIONS, { body: definition(names) })).status).toBe(201);
    await server.close();
  });

  it('is not made by writing the names of a built-in resource into the status of another definition', async () => {
    const others = { group: 'rbac.authorization.k8s.io', plural: 'grants', kind: 'Grant', scope: 'Cluster' };
    const path = `${DEFINITIONS}/grants.rbac.authorization.k8s.io`;
    const before = await countOf(`${RBAC}/clusterroles`);
    expect((await api.ask('POST', DEFINITIONS, { body: definition(others), as: DEFINER })).status).toBe(201);
    await untilAnswer(path, isEstablished);
    const body = { status: { acceptedNames: { plural: 'clusterroles', kind: 'Grant' } } };
    expect((await api.ask('PATCH', `${path}/status`, { body, as: DEFINER })).status).toBe(200);
    const taken = await api.ask('GET', `${RBAC.replace('v1', 'v9')}/clusterroles`);
    expect([taken.status, taken.body['items']]).toEqual([404, undefined]);
    await api.ask('DELETE', path, { as: DEFINER });
    await untilAnswer(path, (answer) => answer.status === 404);
    expect(await countOf(`${RBAC}/clusterroles`)).toBe(before);
  });
});
