/**
 * Records how a real kube-apiserver decides about access, reviews, impersonation and escalation, into the fixture that the
 * tests of src/apiserver/{authorization,authentication,reviews} replay: `tsx test/real/record-access.ts`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { IMPERSONATION_CASES, REVIEW_CASES, WRITE_CASES } from './record-access-cases.js';
import { type AccessCase, NAMESPACE, TOKEN_FILE, WORLD } from './record-access-world.js';
import { call, type Endpoint } from './rig/http-client.js';
import type { KubeApiserver } from './rig/kube-apiserver.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const VERSION = 'v1.36.4';
const FIXTURE = fileURLToPath(new URL('../../src/apiserver/reviews/access.recorded.json', import.meta.url));
const ROLES_READY = '/readyz/poststarthook/rbac/bootstrap-roles';

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`gave up waiting for ${what}`);
}

async function post(admin: Endpoint, path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await call(admin, path, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.json<JsonObject>();
}

async function createWorld(admin: Endpoint): Promise<JsonObject[]> {
  await until('the default roles', async () => (await call(admin, ROLES_READY)).status === 200);
  const world: JsonObject[] = [];
  for (const [path, body] of WORLD) {
    const object = await post(admin, path, body);
    delete (object.metadata as JsonObject).managedFields;
    world.push(object);
  }
  // The authorizer reads from caches that follow the store.
  const probe = { user: 'gina', resourceAttributes: { verb: 'get', resource: 'pods', namespace: NAMESPACE } };
  await until('the authorizer', async () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: probe };
    const answer = await post(admin, '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
    return String((answer.status as JsonObject).reason).includes('"gone"');
  });
  return world;
}

async function tokens(admin: Endpoint): Promise<Record<string, string>> {
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/builder/token`;
  const request = (spec: JsonObject) =>
    post(admin, path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
  const token = ((await request({})).status as JsonObject).token as string;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'worker' };
  const bound = await request({ audiences: ['a', 'b'], boundObjectRef });
  const [head, claims, signature] = token.split('.') as [string, string, string];
  return {
    $TOKEN_CHANGED: `${head}.${claims}.${signature.slice(0, -4)}AAAA`,
    $POD_TOKEN: (bound.status as JsonObject).token as string,
    $TOKEN: token,
  };
}

function filledIn<T>(value: T, variables: Record<string, string>): T {
  let text = JSON.stringify(value);
  for (const [name, replacement] of Object.entries(variables)) text = text.replaceAll(name, replacement);
  return JSON.parse(text) as T;
}

/** Tokens are no facts; what they say is. */
function withoutTokens(answer: JsonObject, each: AccessCase): JsonObject {
  if (answer.kind === 'TokenReview') return { ...answer, spec: each.body?.spec ?? {} };
  const status = answer.status as JsonObject | undefined;
  if (answer.kind !== 'TokenRequest' || typeof status?.token !== 'string') return answer;
  const [head, claims] = status.token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json);
  return { ...answer, status: { ...status, token: { head: head!, claims: claims! } } };
}

async function perform(admin: Endpoint, each: AccessCase, variables: Record<string, string>): Promise<JsonObject> {
  const { requester, method, path, body, headers = [] } = filledIn(each, variables);
  const { clientCert: _, ...nobody } = admin;
  const sent: Record<string, string[]> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    sent[name] = [...(sent[name] ?? []), headers[i + 1]!];
  }
  const endpoint = requester === undefined ? admin : { ...nobody, token: `${requester}-token` };
  const answer = await call(endpoint, path, { method, headers: sent, ...(body ? { body } : {}) });
  const json = answer.json<JsonObject>();
  // Only what stands for a refusal or a review is compared.
  const result =
    json.kind === 'Status' || body !== undefined ? withoutTokens(json, each) : { kind: json.kind ?? 'Version' };
  delete (result.metadata as JsonObject | undefined)?.managedFields;
  const warnings = answer.headers['warning'];
  return { ...each, status: answer.status, ...(warnings ? { warnings } : {}), answer: result } as unknown as JsonObject;
}

/** The documents by which others check tokens, word for word, and the key that they are about. */
async function openId(admin: Endpoint, kube: KubeApiserver): Promise<JsonObject[]> {
  const answers = await Promise.all(
    ['/.well-known/openid-configuration', '/openid/v1/jwks'].map(async (path) => {
      const { headers, text } = await call(admin, path, { headers: { accept: '*/*' } });
      const sent = { type: headers['content-type'] ?? '', cacheControl: headers['cache-control'] ?? '' };
      return { path, ...sent, text };
    }),
  );
  return [...answers, { key: readFileSync(kube.options.pki.serviceAccountKey.publicFile, 'utf8') }];
}

async function record(admin: Endpoint, kube: KubeApiserver): Promise<JsonObject> {
  const world = await createWorld(admin);
  const role = world.find((object) => (object.metadata as JsonObject).name === 'config-editor')!;
  const { uid, resourceVersion, creationTimestamp } = role.metadata as Record<string, string>;
  const variables = {
    ...(await tokens(admin)),
    $UID: uid!,
    $VERSION: resourceVersion!,
    $CREATED: creationTimestamp!,
  };
  const all = async (cases: readonly AccessCase[]) => {
    const results: JsonObject[] = [];
    for (const each of cases) results.push(await perform(admin, each, variables));
    return results;
  };
  return {
    world,
    reviews: await all(REVIEW_CASES),
    writes: await all(WRITE_CASES),
    impersonation: await all(IMPERSONATION_CASES),
    openId: await openId(admin, kube),
  };
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const tokenFile = join(dir, 'tokens.csv');
  writeFileSync(tokenFile, `${TOKEN_FILE}\n`);
  const settings = { version: VERSION, flags: [`--token-auth-file=${tokenFile}`] } as const;
  const recorded = await withKubeApiserver(dir, settings, record);
  const lists = Object.entries(recorded).map(
    ([name, items]) => `"${name}":[\n${(items as Json[]).map((each) => JSON.stringify(each)).join(',\n')}\n]`,
  );
  writeFileSync(FIXTURE, `{"from":"${VERSION}",\n${lists.join(',\n')}}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
