import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { call, type Endpoint } from '../rig/http-client.js';
import type { Scenario } from '../scenario.js';
import { createNewer, newerIn, newerResource } from './newer-api.js';

const SPOOFED = {
  'x-remote-user': 'rig-admin',
  'x-remote-group': 'system:masters',
  'x-remote-extra-scopes': 'all',
  'x-kubernetes-peer-proxied': 'true',
};

export const identity: Scenario = {
  number: 6,
  name: 'identity, local and rerouted: X.509, token, anonymous, impersonation as straight at the server; spoofing changes nothing',
  async run({ plane, namespace }) {
    await plane.arrange(layoutOf('default'));
    const ns = await namespace();
    const newerObjectPath = await createNewer(plane.b.kube.admin, ns, 'seen');
    const users = await everyKindOfUser(plane, ns);

    for (const [name, { token, clientCert, groups }] of Object.entries(users)) {
      const as = (url: string): Endpoint => ({
        url,
        ca: plane.pki.ca.certPem,
        ...(token !== undefined && { token }),
        ...(clientCert && { clientCert }),
      });
      const straddle = as(plane.a.straddle.url);
      await sameWhoAmI(straddle, as(plane.a.kube.url), name);
      const local = `/api/v1/namespaces/${ns}/configmaps`;
      await sameVerdict(straddle, as(plane.a.kube.url), local);
      await sameVerdict(straddle, as(plane.b.kube.url), newerObjectPath);
      const positions = [plane.b, plane.c].map(({ kube }) => kube.auditPosition());
      await call(straddle, newerObjectPath);
      const seen = [plane.b, plane.c]
        .flatMap(({ kube }, index) => kube.auditSince(positions[index] ?? 0))
        .filter(({ requestURI }) => requestURI === newerObjectPath);
      assert.equal(seen.length, 1, `${name}: the rerouted request was served ${seen.length} times`);
      assert.equal(seen[0]?.user.username, name);
      for (const group of groups) assert.ok(seen[0]?.user.groups?.includes(group), `${name} lost group ${group}`);
    }
    await forbiddenNamesTheUser(plane, ns);
    await impersonation(plane, newerObjectPath);
    const wrongToken = { ...plane.a.straddle.anonymous, token: 'not-a-token' };
    assert.equal((await call(wrongToken, '/api/v1/namespaces')).status, 401);
    assert.equal((await call(wrongToken, newerObjectPath)).status, 401);
  },
};

interface User {
  readonly token?: string;
  readonly clientCert?: Endpoint['clientCert'];
  readonly groups: readonly string[];
}

async function everyKindOfUser(plane: ControlPlane, ns: string): Promise<Record<string, User>> {
  const raw = { context: 'raw-b' };
  await plane.kubectl.run(raw, '-n', ns, 'create', 'serviceaccount', 'robot');
  const serviceAccount = `system:serviceaccount:${ns}:robot`;
  await plane.kubectl.run(
    raw,
    ...['-n', ns, 'create', 'role', 'reader', '--verb=get,list', `--resource=configmaps,${newerResource()}`],
  );
  await plane.kubectl.run(
    raw,
    ...['-n', ns, 'create', 'rolebinding', 'reader', '--role=reader', `--serviceaccount=${ns}:robot`],
  );
  const token = (await plane.kubectl.run(raw, '-n', ns, 'create', 'token', 'robot')).trim();
  return {
    'rig-admin': { clientCert: plane.pki.users.admin, groups: ['system:masters', 'system:authenticated'] },
    alice: { clientCert: plane.pki.users.alice, groups: ['developers', 'system:authenticated'] },
    [serviceAccount]: { token, groups: [`system:serviceaccounts:${ns}`, 'system:authenticated'] },
    'system:anonymous': { groups: ['system:unauthenticated'] },
  };
}

/** Who the server thinks is asking, straight and through Straddle, with and without headers that lie. */
async function sameWhoAmI(straddle: Endpoint, kube: Endpoint, name: string): Promise<void> {
  const review = {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const straight = await call(kube, path, review);
  for (const headers of [{}, SPOOFED]) {
    const through = await call(straddle, path, { ...review, headers });
    assert.equal(through.status, straight.status, `${name}: ${through.text}`);
    if (straight.status === 201) {
      assert.equal(through.json()['status'].userInfo.username, name);
      assert.deepEqual(through.json()['status'].userInfo, straight.json()['status'].userInfo);
    }
  }
}

async function sameVerdict(straddle: Endpoint, kube: Endpoint, path: string): Promise<void> {
  const straight = await call(kube, path);
  for (const headers of [{}, SPOOFED]) {
    const through = await call(straddle, path, { headers });
    assert.equal(through.status, straight.status, `${path}: ${through.text}`);
    if (straight.status >= 400) assert.deepEqual(through.json(), straight.json());
  }
}

async function forbiddenNamesTheUser(plane: ControlPlane, ns: string): Promise<void> {
  for (const path of [`/api/v1/namespaces/${ns}/configmaps`, newerIn(ns)]) {
    const answer = await call(plane.a.straddle.alice, path);
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.json()['message'], /User "alice" cannot list resource/);
  }
  const { stderr } = await plane.kubectl.try(
    { context: 'straddle-a', user: 'alice' },
    ...['-n', ns, 'get', newerResource()],
  );
  assert.match(stderr, /Forbidden.*"alice"/);
}

async function impersonation(plane: ControlPlane, newerObjectPath: string): Promise<void> {
  const asBob = { headers: { 'impersonate-user': 'bob', 'impersonate-group': ['painters'] } };
  const position = [plane.b, plane.c].map(({ kube }) => kube.auditPosition());
  const rerouted = await call(plane.a.straddle.admin, newerObjectPath, asBob);
  assert.equal(rerouted.status, 403);
  assert.match(rerouted.json()['message'], /User "bob" cannot get/);
  const seen = [plane.b, plane.c]
    .flatMap(({ kube }, index) => kube.auditSince(position[index] ?? 0))
    .find(({ requestURI }) => requestURI === newerObjectPath);
  assert.equal(seen?.user.username, 'rig-admin');
  assert.equal(seen?.impersonatedUser?.username, 'bob');

  const notAllowed = await call(plane.a.straddle.alice, newerObjectPath, {
    headers: { 'impersonate-user': 'rig-admin' },
  });
  assert.equal(notAllowed.status, 403);
  assert.match(notAllowed.json()['message'], /User "alice" cannot impersonate/);
}
