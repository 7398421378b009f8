import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask, CONFIG_MAPS, SKEW } from './ask.fixture.js';
import { type AdmissionRequest, type ControlPlane, type ControlPlaneAccess, startControlPlane } from './index.js';

// Several servers and their clients share one thread, and that may have to share a processor.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

function definition(plural: string): object {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      names: { plural, singular: plural.slice(0, -1), kind },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = (namespace: string) => `/apis/example.com/v1/namespaces/${namespace}/widgets`;
const widget = (name: string, spec: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

let folder: string;
let plane: ControlPlane;
const asked: AdmissionRequest[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'straddle-crds-'));
  writeFileSync(join(folder, 'gadgets.yaml'), `${dump(definition('gadgets'))}---\nkind: Kustomization\n`);
  plane = await startControlPlane({
    versions: ['1.36', '1.37'],
    runtimeConfig: `${SKEW}, apps/v1=true`,
    crds: [definition('widgets'), dump(definition('gizmos')), folder],
    webhooks: [
      {
        name: 'defaults.example.com',
        type: 'mutating',
        rules: [{ apiGroups: ['example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] }],
        handler: ({ object }) => ({ object: { ...object, spec: { size: 1, ...object.spec } } }),
      },
      {
        name: 'rules.example.com',
        rules: [{ apiGroups: ['example.com'], apiVersions: ['*'], operations: ['*'], resources: ['widgets'] }],
        handler: async (review) => {
          asked.push(review);
          if (review.object?.spec.size > 10) return 'too big';
          if (review.object?.spec.size < 0) throw new Error('did not expect this');
        },
      },
    ],
  });
});
afterAll(async () => {
  await plane?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('definitions and webhooks given to startControlPlane', () => {
  it('are in effect on every server from the first request on', async () => {
    for (const { name } of plane.servers) {
      for (const plural of ['widgets', 'gizmos', 'gadgets'])
        expect((await ask(plane, name, `/apis/example.com/v1/${plural}`)).status, `${plural} at ${name}`).toBe(200);
      const made = await ask(plane, name, widgets('default'), widget(`w-${name}`, {}));
      expect(made).toMatchObject({ status: 201, body: { spec: { size: 1 } } });
      const refused = await ask(plane, name, widgets('default'), widget(`x-${name}`, { size: 11 }));
      expect(refused).toMatchObject({
        status: 403,
        body: { message: expect.stringMatching(/rules\.example\.com.*too big/) },
      });
    }
    expect(asked.map(({ operation, userInfo }) => `${operation} ${userInfo.username}`)).toContain(
      'CREATE kubernetes-admin',
    );
  });

  it('show what a handler has thrown', async () => {
    const failed = await ask(plane, 'front', widgets('default'), widget('thrown', { size: -1 }));
    expect(failed.status).toBe(500);
    expect(JSON.stringify(failed.body)).toMatch(/rules\.example\.com/);
  });

  it.each<[string, object, RegExp]>([
    [
      'a definition of another kind',
      { crds: { apiVersion: 'v1', kind: 'Pod' } },
      /^crds: there is a Pod of v1; only a/,
    ],
    ['a file that is not there', { crds: './nowhere.yaml' }, /^crds: there is no file or folder \.\/nowhere\.yaml\.$/],
    ['text that is no YAML', { crds: 'apiVersion: [' }, /^crds: this is no YAML: /],
    [
      'a webhook without a handler',
      { webhooks: [{ name: 'a.b.c', rules: [{}] }] },
      /^webhooks: a\.b\.c needs a handler/,
    ],
    [
      'a misspelt member of a webhook',
      { webhooks: [{ name: 'a.b.c', handle: 1 }] },
      /there is no handle; did you mean handler\?$/,
    ],
    [
      'a definition that the servers refuse',
      { versions: ['1.37'], controllers: [], crds: { ...definition('widgets'), metadata: { name: 'other' } } },
      /^crds: other: 422: /,
    ],
  ])('are refused in one sentence: %s', async (_, options, sentence) => {
    await expect(startControlPlane(options)).rejects.toThrow(sentence);
  });
});

describe('ControlPlane.reset', () => {
  it('takes away what came since the start, and brings back what was there', async () => {
    await plane.reset();
    await ask(plane, 'front', '/api/v1/namespaces', { metadata: { name: 'extra' } });
    await ask(plane, 'front', '/api/v1/namespaces/extra/configmaps', { metadata: { name: 'inside' } });
    await ask(plane, 'front', CONFIG_MAPS, { metadata: { name: 'outside' } });
    expect((await ask(plane, 'front', DEFINITIONS, definition('doodads'))).status).toBe(201);
    const doodads = '/apis/example.com/v1/namespaces/default/doodads';
    const doodad = { apiVersion: 'example.com/v1', kind: 'Doodad', metadata: { name: 'a' } };
    // Before the definition is established the reply is no JSON.
    const made = async () => (await call(plane, 'server-1', 'POST', doodads, doodad)).status;
    await expect.poll(made, { timeout: 30_000 }).toBe(201);
    expect((await ask(plane, 'front', widgets('default'), widget('made', {}))).status).toBe(201);
    expect((await remove(`${DEFINITIONS}/gizmos.example.com`)).status).toBe(200);
    expect(
      (await remove('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/rules.example.com')).status,
    ).toBe(200);

    const beganMs = performance.now();
    await plane.reset();
    expect(performance.now() - beganMs).toBeLessThan(30_000);

    for (const { name } of plane.servers) {
      const statusOf = async (path: string, body?: object) =>
        (await call(plane, name, body === undefined ? 'GET' : 'POST', path, body)).status;
      expect(await statusOf('/api/v1/namespaces/extra'), name).toBe(404);
      expect(await statusOf('/api/v1/namespaces/extra/configmaps/inside'), name).toBe(404);
      expect(await statusOf(`${CONFIG_MAPS}/outside`), name).toBe(404);
      expect(await statusOf(`${DEFINITIONS}/doodads.example.com`), name).toBe(404);
      expect(await statusOf(doodads), name).toBe(404);
      expect(await statusOf(`${widgets('default')}/made`), name).toBe(404);
      expect(await statusOf('/apis/example.com/v1/gizmos'), name).toBe(200);
      expect(await statusOf(widgets('default'), widget('big', { size: 11 })), name).toBe(403);
      expect(await statusOf('/api/v1/namespaces/default'), name).toBe(200);
    }
  });

  it('gives another UID to an object that was deleted, so that controllers take it for a new one', async () => {
    const path = `${DEFINITIONS}/gadgets.example.com`;
    const uidOf = async () => ((await ask(plane, 'front', path)).body['metadata'] as { uid: string }).uid;
    const before = await uidOf();
    await remove(path);
    // Its objects are removed first.
    await expect.poll(async () => (await ask(plane, 'front', path)).status, { timeout: 30_000 }).toBe(404);
    await plane.reset();
    expect(await uidOf()).not.toBe(before);
  });

  it('works after a roll, and keeps the default roles of the new version', async () => {
    const roles = async () => {
      const { body } = await ask(plane, 'front', '/apis/rbac.authorization.k8s.io/v1/clusterroles');
      return (body['items'] as { metadata: { name: string }; rules: unknown }[]).map(({ metadata, rules }) => [
        metadata.name,
        rules,
      ]);
    };
    await plane.roll({ to: '1.37' });
    const before = await roles();
    await plane.reset();
    expect(await roles()).toEqual(before);
  });
});

describe('ControlPlane.as', () => {
  const rules = [
    { verbs: ['get', 'create'], resources: ['configmaps'], namespace: 'default' },
    { verbs: ['list'], resources: ['nodes'] },
  ];

  it.each<[string, Parameters<ControlPlane['as']>[0], string]>([
    ['a user', 'alice', 'alice'],
    ['a user with a group', { user: 'bob', groups: ['dev'] }, 'bob'],
    ['a service account', { serviceAccount: 'apps/operator' }, 'system:serviceaccount:apps:operator'],
  ])('gives %s just those rights, at every server', async (_, who, user) => {
    const access = await plane.as(who, rules);
    expect(access.user).toBe(user);
    for (const { name } of plane.servers) {
      expect((await call(access, name, 'POST', CONFIG_MAPS, { metadata: { name: `by-${name}` } })).status).toBe(201);
      expect((await call(access, name, 'GET', `${CONFIG_MAPS}/by-${name}`)).status).toBe(200);
      expect((await call(access, name, 'GET', '/api/v1/nodes')).status).toBe(200);
      expect((await call(access, name, 'DELETE', `${CONFIG_MAPS}/by-${name}`)).status).toBe(403);
      expect((await call(access, name, 'GET', '/api/v1/namespaces/kube-system/configmaps/x')).status).toBe(403);
      await remove(`${CONFIG_MAPS}/by-${name}`);
    }
    const less = await plane.as(who, [{ verbs: ['list'], resources: ['nodes'] }]);
    for (const { name } of plane.servers) {
      expect((await call(less, name, 'GET', `${CONFIG_MAPS}/any`)).status).toBe(403);
      expect((await call(less, name, 'GET', '/api/v1/nodes')).status).toBe(200);
    }
  });

  it('stays in effect after a reset', async () => {
    const access = await plane.as({ serviceAccount: 'apps/operator' }, rules);
    await plane.reset();
    for (const { name } of plane.servers) {
      expect((await call(access, name, 'GET', `${CONFIG_MAPS}/any`)).status, name).toBe(404);
      expect((await call(access, name, 'GET', '/api/v1/namespaces/apps')).status, name).toBe(403);
    }
    const less = await plane.as({ serviceAccount: 'apps/operator' }, [{ verbs: ['list'], resources: ['nodes'] }]);
    await plane.reset();
    expect((await call(less, 'front', 'GET', `${CONFIG_MAPS}/any`)).status).toBe(403);
  });

  it('has a kubeconfig with the contexts of the control plane', async () => {
    const access = await plane.as('alice', rules);
    const whole = load(access.kubeconfig) as { contexts: { name: string }[]; users: object[] };
    expect(whole.contexts.map(({ name }) => name)).toEqual(['front', 'server-1', 'server-2']);
    expect(whole.users).toEqual([
      { name: 'alice', user: expect.objectContaining({ 'client-key-data': expect.any(String) }) },
    ]);
    expect((load(access.kubeconfigFor('server-2')) as typeof whole).contexts).toHaveLength(1);
  });

  it.each<[unknown, unknown, RegExp]>([
    [{ serviceAccount: 'operator' }, [], /^as: give a service account as 'namespace\/name', not 'operator'\.$/],
    [3, [], /^as: give a user as 'alice'/],
    ['alice', [{ verb: ['get'] }], /^as: a rule: there is no verb; did you mean verbs\?$/],
    ['alice', [{ verbs: ['get'] }], /needs resources/],
  ])('refuses %j with %j in one sentence', async (who, given, sentence) => {
    await expect(plane.as(who as 'alice', given as never)).rejects.toThrow(sentence);
  });
});

function remove(path: string): Promise<{ status: number }> {
  return call({ credentials: plane.credentials }, 'front', 'DELETE', path);
}

function call(
  { credentials }: Pick<ControlPlaneAccess, 'credentials'>,
  where: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number }> {
  const url = where === 'front' ? plane.front.url : plane.servers.find(({ name }) => name === where)!.url;
  const { ca, ...secret } = credentials;
  const headers = {
    ...('token' in secret ? { Authorization: `Bearer ${secret.token}` } : {}),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const certificate = 'cert' in secret ? secret : {};
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { ca, ...certificate, agent: false, method, headers }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve({ status: reply.statusCode! }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
