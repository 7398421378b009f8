/**
 * Records which rights a real kube-apiserver asks its authorizer about and which reviews it sends to admission webhooks, request
 * by request, into the fixture that src/apiserver/authorization/recorded-requests.test.ts replays:
 * `tsx test/real/record-authorization.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HookServer, startHookServer } from '../../src/apiserver/admission/webhooks/hook-server.fixture.js';
import {
  type AccessSpec,
  isWriter,
  rightOf,
  shownAccess,
  shownAnswer,
  shownReview,
  TESTER,
} from '../../src/apiserver/authorization/asked.fixture.js';
import { makeCa, makeServer } from '../../src/http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { type AuthorizationCase, CUSTOM, type RecordedRequest, WORLD } from './record-authorization-case.js';
import { CONNECTION_CASES } from './record-authorization-connections.js';
import { REQUEST_CASES } from './record-authorization-requests.js';
import { RIGHTS_CASES } from './record-authorization-rights.js';
import { SUBRESOURCE_CASES } from './record-authorization-subresources.js';
import { VERB_CASES } from './record-authorization-verbs.js';
import { eventually } from './rig/eventually.js';
import { type Answer, call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const VERSION = 'v1.36.4';
const FIXTURE = fileURLToPath(
  new URL('../../src/apiserver/authorization/authorization.recorded.json', import.meta.url),
);
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

const ca = makeCa('hooks');
let denied: readonly string[] = [];
let asked: JsonObject[] = [];

const hooks = await startHookServer(makeServer(ca, { ipAddresses: ['127.0.0.1'] }), (path, review) => {
  if (path === '/authorize') {
    const spec = review['spec'] as unknown as AccessSpec;
    const allowed = !denied.includes(rightOf(spec));
    asked.push(shownAccess(spec, allowed));
    return { body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed } } };
  }
  if (isWriter(review)) asked.push(shownReview(path.slice(1), review));
  const response = { uid: '$UID', allowed: true };
  return { body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } };
});

function kubeconfig({ port }: HookServer): JsonObject {
  const server = `https://127.0.0.1:${port}/authorize`;
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca.pem).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hook', cluster }],
    users: [{ name: 'server', user: {} }],
    contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'server' } }],
    'current-context': 'hook',
  };
}

function configuration(kind: string): JsonObject {
  return {
    metadata: { name: 'all' },
    webhooks: [
      {
        name: 'all.hooks.test',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }],
        clientConfig: {
          url: `https://127.0.0.1:${hooks.port}/${kind}`,
          caBundle: Buffer.from(ca.pem).toString('base64'),
        },
      },
    ],
  };
}

function send(endpoint: Endpoint, { method, path, body, headers = [] }: RecordedRequest): Promise<Answer> {
  const sent: Record<string, string[]> = {};
  for (let i = 0; i < headers.length; i += 2) sent[headers[i]!] = [...(sent[headers[i]!] ?? []), headers[i + 1]!];
  const single = Object.entries(sent).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]);
  return call(endpoint, path, {
    method,
    headers: { 'user-agent': 'tester/1.0', ...(Object.fromEntries(single) as Record<string, string>) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function succeed(admin: Endpoint, request: RecordedRequest): Promise<void> {
  const { status, text } = await send(admin, request);
  if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
}

async function perform(admin: Endpoint, tester: Endpoint, each: AuthorizationCase): Promise<Json> {
  for (const request of each.setup ?? []) await succeed(admin, request);
  denied = each.deny ?? [];
  asked = [];
  const { status, text } = await send(tester, each);
  return { ...(each as unknown as JsonObject), asked, answer: shownAnswer(status, text) };
}

async function record(admin: Endpoint): Promise<Json[]> {
  const { clientCert: _, ...nobody } = admin;
  const tester = { ...nobody, token: 'tester-token' };
  for (const request of WORLD) await succeed(admin, request);
  for (const plural of ['widgets', 'gadgets']) {
    await eventually(
      `${plural} are served`,
      async () => (await call(admin, `${CUSTOM}/${plural}`)).status === 200 || undefined,
      { timeoutMs: 30_000, intervalMs: 100 },
    );
  }
  for (const kind of ['mutating', 'validating']) {
    const path = `${REGISTRATION}/${kind}webhookconfigurations`;
    await succeed(admin, { method: 'POST', path, body: configuration(kind) });
  }
  await eventually(
    'both webhooks are asked',
    async () => {
      asked = [];
      const body = { metadata: { name: 'probe' } };
      await send(tester, { method: 'POST', path: '/api/v1/namespaces?dryRun=All', body });
      return asked.length === 3 || undefined;
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  );
  const results: Json[] = [];
  for (const each of [...VERB_CASES, ...SUBRESOURCE_CASES, ...CONNECTION_CASES, ...RIGHTS_CASES, ...REQUEST_CASES]) {
    results.push(await perform(admin, tester, each));
  }
  return results;
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const tokenFile = join(dir, 'tokens.csv');
  writeFileSync(tokenFile, `tester-token,${TESTER.name},${TESTER.uid},"${TESTER.group}"\n`);
  const webhookFile = join(dir, 'authorization-webhook.json');
  writeFileSync(webhookFile, JSON.stringify(kubeconfig(hooks)));
  const flags = [
    `--token-auth-file=${tokenFile}`,
    `--authorization-webhook-config-file=${webhookFile}`,
    '--authorization-webhook-version=v1',
    '--authorization-webhook-cache-authorized-ttl=0s',
    '--authorization-webhook-cache-unauthorized-ttl=0s',
  ];
  const cases = await withKubeApiserver(dir, { version: VERSION, flags, authorizationMode: 'Webhook' }, record);
  const lines = (items: readonly unknown[]): string => items.map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(FIXTURE, `{"from":"${VERSION}","world":[\n${lines(WORLD)}\n],"cases":[\n${lines(cases)}\n]}\n`);
} finally {
  await hooks.close();
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
