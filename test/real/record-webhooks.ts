/**
 * Records what a real kube-apiserver answers when admission webhooks misbehave, and the reviews that it sends, into the
 * fixture that the tests of src/apiserver/admission/webhooks replay: `tsx test/real/record-webhooks.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHookServer } from '../../src/apiserver/admission/webhooks/hook-server.fixture.js';
import { HOOK_CASES, type HookCase } from '../../src/apiserver/admission/webhooks/webhook-cases.fixture.js';
import { makeCa, makeServer } from '../../src/http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(
  new URL('../../src/apiserver/admission/webhooks/webhooks.recorded.json', import.meta.url),
);
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const ca = makeCa('hooks');
const hooks = await startHookServer(makeServer(ca, { ipAddresses: ['127.0.0.1'] }));
const misnamed = await startHookServer(makeServer(ca, { dnsNames: ['elsewhere.test'], ipAddresses: [] }));

function clientConfig({ name, server }: HookCase): JsonObject {
  const caBundle = Buffer.from(server === 'wrong-ca' ? makeCa('strangers').pem : ca.pem).toString('base64');
  if (server === 'missing-service') return { service: { namespace: 'default', name: 'nobody', path: '/x' }, caBundle };
  const port = server === 'closed' ? 9 : (server === 'wrong-name' ? misnamed : hooks).port;
  return { url: `https://127.0.0.1:${port}/${name}`, caBundle };
}

function configuration(kind: string, cases: readonly HookCase[], path?: string): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: path === undefined ? 'cases' : 'reviews' },
    webhooks: cases.map((each) => ({
      name: `${each.name}.hooks.test`,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'pods/*'] }],
      objectSelector: { matchLabels: { case: each.name } },
      clientConfig: clientConfig(each),
      ...(each.webhook ?? {}),
    })) as Json[],
  };
}

async function recordCases(admin: Endpoint): Promise<Json[]> {
  const recorded: Json[] = [];
  for (const { name } of HOOK_CASES) {
    const answer = await call(admin, `${CONFIG_MAPS}?fieldManager=recorder`, {
      method: 'POST',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { case: name } } },
    });
    const body = answer.json<JsonObject>();
    const warnings = answer.headers['warning'];
    recorded.push({
      name,
      status: answer.status,
      ...(warnings === undefined ? {} : { warning: String(warnings) }),
      ...(answer.status < 300 ? { data: body['data'] ?? null } : { answer: body }),
    });
  }
  return recorded;
}

/** The reviews for the life of one object: created, changed, changed dry, deleted. */
async function recordReviews(admin: Endpoint): Promise<Json[]> {
  hooks.reviews.length = 0;
  const send = (method: string, path: string, body?: JsonObject, type = 'application/json') =>
    call(admin, path, { method, ...(body ? { body } : {}), headers: { 'content-type': type } });
  const named = { name: 'life', labels: { case: 'allowed' } };
  await send('POST', `${CONFIG_MAPS}?fieldManager=recorder`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: named });
  await send('PATCH', `${CONFIG_MAPS}/life`, { data: { a: 'b' } }, 'application/merge-patch+json');
  await send('PUT', `${CONFIG_MAPS}/life?dryRun=All`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: named });
  await send('DELETE', `${CONFIG_MAPS}/life?propagationPolicy=Background`);
  await send('DELETE', `${CONFIG_MAPS}?labelSelector=case%3Dallowed`);
  return hooks.reviews as Json[];
}

async function effective(admin: Endpoint, name: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { case: name } } };
    const { status } = await call(admin, `${CONFIG_MAPS}?dryRun=All`, { method: 'POST', body });
    if (status >= 400) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} is never asked`);
}

async function record(admin: Endpoint): Promise<JsonObject> {
  for (const [kind, mutating] of [
    ['ValidatingWebhookConfiguration', false],
    ['MutatingWebhookConfiguration', true],
  ] as const) {
    const body = configuration(
      kind,
      HOOK_CASES.filter((each) => (each.mutating ?? false) === mutating),
    );
    const answer = await call(admin, `${REGISTRATION}/${kind.toLowerCase()}s`, { method: 'POST', body });
    if (answer.status !== 201) throw new Error(answer.text);
  }
  await effective(admin, 'denied-bare');
  await effective(admin, 'mutating-denied');
  return { cases: await recordCases(admin), reviews: await recordReviews(admin) };
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const { cases, reviews } = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record);
  const lines = (items: Json | undefined) => (items as Json[]).map((each) => JSON.stringify(each)).join(',\n');
  // Ports differ from run to run.
  const text = `{"from":"v1.36.4","cases":[\n${lines(cases)}\n],"reviews":[\n${lines(reviews)}\n]}\n`
    .replaceAll(`127.0.0.1:${hooks.port}`, '127.0.0.1:$PORT')
    .replaceAll(`127.0.0.1:${misnamed.port}`, '127.0.0.1:$PORT');
  writeFileSync(FIXTURE, text);
} finally {
  await hooks.close();
  await misnamed.close();
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
