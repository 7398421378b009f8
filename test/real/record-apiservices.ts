/**
 * Records the APIServices that a real kube-apiserver makes for itself, and what it says of remote ones that can or can't be
 * reached, into the fixture that the tests of src/apiserver/aggregation replay: `tsx test/real/record-apiservices.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRemoteServer } from '../../src/apiserver/aggregation/remote-server.fixture.js';
import { makeCa, makeServer } from '../../src/http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/apiserver/aggregation/apiservices.recorded.json', import.meta.url));
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

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const recorded = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record);
  const lists = Object.entries(recorded).map(
    ([name, items]) => `"${name}":[\n${(items as Json[]).map((each) => JSON.stringify(each)).join(',\n')}\n]`,
  );
  const text = `{"from":"v1.36.4",${lists.join(',')}}\n`.replaceAll(`:${remote.port}`, ':$PORT');
  writeFileSync(FIXTURE, text);
} finally {
  await remote.close();
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
