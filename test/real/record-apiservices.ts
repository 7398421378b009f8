/**
 * Records the APIServices that a real kube-apiserver 1.36 makes for itself, and what it says of remote ones that can or can't
 * be reached, and the priorities that each version gives to its own group-versions, into the fixtures that the tests of
 * src/apiserver/aggregation replay: `tsx test/real/record-apiservices.ts` for all of it, `… 1.38` for the priorities of one
 * version.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRemoteServer } from '../../src/apiserver/aggregation/remote-server.fixture.js';
import { makeCa, makeServer } from '../../src/http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { flagsForEverything } from './capture-surface.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { type KubeVersion, pinnedVersions } from './rig/pinned-versions.js';
import { stopEverything } from './rig/process.js';

const BASE: KubeVersion = 'v1.36.4';
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../src/apiserver/aggregation/${name}`, import.meta.url));
const FIXTURE = fixture('apiservices.recorded.json');
const PRIORITIES = fixture('apiservice-priorities.recorded.json');
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const SERVICES = '/api/v1/namespaces/default/services';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

const ca = makeCa('aggregated');
const remote = await startRemoteServer(makeServer(ca, { dnsNames: ['wardle.default.svc', 'misled.default.svc'] }));

interface RemoteCase {
  readonly group: string;
  readonly service: string;
  readonly port?: number;
  readonly caPem?: string;
}

/** The group names what is wrong; all but one serve nothing. */
const CASES: readonly RemoteCase[] = [
  { group: 'wardle.example.com', service: 'wardle' },
  { group: 'not-served.example.com', service: 'wardle' },
  { group: 'no-service.example.com', service: 'nobody' },
  { group: 'no-port.example.com', service: 'plain', port: 444 },
  { group: 'no-slices.example.com', service: 'plain', port: 443 },
  { group: 'not-ready.example.com', service: 'unready', port: 443 },
  { group: 'closed.example.com', service: 'wardle', port: 9 },
  { group: 'strangers.example.com', service: 'misled', caPem: makeCa('strangers').pem },
  { group: 'misnamed.example.com', service: 'misnamed' },
];

async function post(admin: Endpoint, path: string, body: JsonObject): Promise<void> {
  const answer = await call(admin, path, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(answer.text);
}

async function prepare(admin: Endpoint): Promise<void> {
  for (const name of ['wardle', 'misled', 'misnamed']) {
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    await post(admin, SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
  }
  for (const name of ['plain', 'unready']) {
    const spec = { ports: [{ name: 'https', port: 443 }] };
    await post(admin, SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
  }
  await post(admin, SLICES, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'unready-1', labels: { 'kubernetes.io/service-name': 'unready' } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: 443 }],
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: false } }],
  });
  for (const { group, service, port, caPem } of CASES) {
    await post(admin, API_SERVICES, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        caBundle: Buffer.from(caPem ?? ca.pem).toString('base64'),
        service: { namespace: 'default', name: service, port: port ?? remote.port },
      },
    });
  }
}

async function record(admin: Endpoint): Promise<JsonObject> {
  const local = (await call(admin, API_SERVICES)).json<{ items: JsonObject[] }>().items.map((item) => {
    const { name, labels } = item['metadata'] as JsonObject;
    return { metadata: { name: name!, labels: labels! }, spec: item['spec']!, status: item['status']! };
  });
  await prepare(admin);
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  const remotes: Json[] = [];
  for (const { group } of CASES) {
    const apiService = (await call(admin, `${API_SERVICES}/v1.${group}`)).json<JsonObject>();
    const answer = await call(admin, `/apis/${group}/v1/things`);
    const { conditions } = apiService['status'] as JsonObject;
    remotes.push({ group, conditions: conditions!, status: answer.status, body: answer.text });
  }
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { items } = (await call(admin, '/apis', { headers: { accept } })).json<{ items: JsonObject[] }>();
  const order = items.map(({ metadata, versions }) => [
    (metadata as JsonObject)['name']!,
    ...(versions as JsonObject[]).map(({ version }) => version!),
  ]);
  const wardle = items.filter(({ metadata }) => String((metadata as JsonObject)['name']).endsWith('.example.com'));
  return { local: local as Json, remotes, order, groups: wardle };
}

async function recordAll(): Promise<void> {
  const recorded = await withServer(BASE, [], record);
  const lists = Object.entries(recorded).map(
    ([name, items]) => `"${name}":[\n${(items as Json[]).map((each) => JSON.stringify(each)).join(',\n')}\n]`,
  );
  const text = `{"from":"${BASE}",${lists.join(',')}}\n`.replaceAll(`:${remote.port}`, ':$PORT');
  writeFileSync(FIXTURE, text);
}

async function withServer<T>(
  version: KubeVersion,
  flags: readonly string[],
  use: (admin: Endpoint) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    return await withKubeApiserver(dir, { version, flags }, use);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** `groupPriorityMinimum` and `versionPriority` by the name of the APIService. */
async function priorities(admin: Endpoint): Promise<JsonObject> {
  const { items } = (await call(admin, API_SERVICES)).json<{ items: JsonObject[] }>();
  const entries = items.map(({ metadata, spec }) => {
    const { groupPriorityMinimum, versionPriority } = spec as Record<string, number>;
    return [String((metadata as JsonObject)['name']), [groupPriorityMinimum!, versionPriority!]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

async function recordPriorities(minors: readonly string[]): Promise<void> {
  const recorded = JSON.parse(readFileSync(PRIORITIES, 'utf8')) as Record<string, JsonObject>;
  for (const minor of minors) {
    const release = pinnedVersions().get(minor);
    if (release === undefined) throw new Error(`${minor} is not one of the pinned versions`);
    const services = await withServer(release, flagsForEverything(release), priorities);
    recorded[minor] = { from: release, services };
    process.stdout.write(`recorded ${Object.keys(services).length} priorities of ${release}\n`);
  }
  const lines = Object.keys(recorded)
    .sort((left, right) => Number(left.split('.')[1]) - Number(right.split('.')[1]))
    .map((minor) => `${JSON.stringify(minor)}:${JSON.stringify(recorded[minor])}`);
  writeFileSync(PRIORITIES, `{\n${lines.join(',\n')}\n}\n`);
}

try {
  const wanted = process.argv.slice(2);
  if (wanted.length === 0) await recordAll();
  await recordPriorities(wanted.length > 0 ? wanted : [...pinnedVersions().keys()]);
} finally {
  await remote.close();
  await stopEverything();
}
