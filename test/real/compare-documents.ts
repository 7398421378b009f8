/**
 * Compares the documents that Straddle's own API server makes of a surface with those of the real kube-apiserver that
 * the surface was captured from, and what kubectl makes of both: `tsx test/real/compare-documents.ts`. Ends with 1 and
 * says what differs if anything does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_DESCRIPTIONS } from '../../src/apiserver/descriptions/descriptions.js';
import { OpenApiV3, openApiV3Reply } from '../../src/apiserver/documents/openapi-v3.js';
import { customType, exchangeFor, servedOf } from '../../src/apiserver/documents/served.fixture.js';
import { DiscoveryDocuments, discoveryReply } from '../../src/apiserver/documents/served-discovery.js';
import { OpenApiV2, openApiV2Reply } from '../../src/apiserver/documents/served-openapi-v2.js';
import { loadSurface } from '../../src/apiserver/surfaces/load-surface.js';
import type { Exchange, Reply } from '../../src/http/exchange.js';
import type { JsonObject } from '../../src/kube/json.js';
import { compareOpenApi } from './compare-openapi.js';
import type { ControlPlane } from './rig/control-plane.js';
import { eventually } from './rig/eventually.js';
import { call, type Endpoint } from './rig/http-client.js';
import type { KubeApiserver } from './rig/kube-apiserver.js';
import { writeKubeconfig } from './rig/kubeconfig.js';
import { Kubectl } from './rig/kubectl.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { oldKubectl } from './rig/old-kubectl.js';
import { stopEverything } from './rig/process.js';

const SURFACE = '1.36';
const AGGREGATED_V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const WIDGETS = { group: 'stable.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
const WIDGET_SCHEMA: JsonObject = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1, default: 3 },
        port: { 'x-kubernetes-int-or-string': true },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
  },
};
/** Each of these is run against both servers; what they print must be the same, prose apart. */
const COMMANDS = [
  'api-versions',
  'api-resources -o wide',
  'explain pod.spec.containers --recursive',
  'explain deployments.spec',
  'explain widgets --recursive',
];

/** Validated by the client alone, with OpenAPI v2 in protobuf: one is right, the others have a field that is none. */
const OLD_OBJECTS = [
  deployment({ image: 'x' }),
  deployment({ imagex: 'x' }),
  { apiVersion: 'stable.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { bogus: 1 } },
];

function deployment(container: JsonObject): JsonObject {
  const spec = { containers: [{ name: 'c', resources: { limits: { cpu: 1, memory: '1Gi' } }, ...container }] };
  const template = { metadata: { labels: { a: 'b' } }, spec };
  const selector = { matchLabels: { a: 'b' } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector, template } };
}

async function makeWidgets(real: Endpoint): Promise<void> {
  const { group, version, resource: plural, kind } = WIDGETS;
  const names = { plural, kind, singular: 'widget', shortNames: ['xw'], categories: ['all', 'ex'] };
  const versions = [
    {
      name: version,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: WIDGET_SCHEMA },
      subresources: { status: {} },
    },
  ];
  const made = await call(real, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, names, scope: 'Namespaced', versions },
    },
  });
  if (made.status !== 201) throw new Error(made.text);
  const documents = [`/apis/${group}/${version}`, `/openapi/v3/apis/${group}/${version}`];
  await eventually('the definition is served', async () => {
    const answers = await Promise.all(documents.map((path) => call(real, path)));
    const list = await call(real, '/apis', { headers: { accept: AGGREGATED_V2 } });
    return answers.every(({ status }) => status === 200) && list.text.includes(group);
  });
}

type Ours = (exchange: Exchange) => Promise<Reply | undefined>;

async function oursWith(
  surface: Awaited<ReturnType<typeof loadSurface>>,
): Promise<{ answer: Ours; v3: OpenApiV3; discovery: DiscoveryDocuments }> {
  const served = servedOf(surface, [customType({ ...WIDGETS, subresources: ['status'] })]);
  const discovery = new DiscoveryDocuments(served, {
    serverAddress: '127.0.0.1',
    gitVersion: `v${SURFACE}.0+straddle`,
    otherPaths: [],
  });
  const v3 = new OpenApiV3({ surface, descriptions: OWN_DESCRIPTIONS, customSchema: () => WIDGET_SCHEMA });
  v3.update(served);
  const v2 = new OpenApiV2(v3);
  const answer: Ours = async (exchange) =>
    (await discoveryReply(exchange, discovery)) ??
    (await openApiV3Reply(exchange, v3)) ??
    (await openApiV2Reply(exchange, v2));
  return { answer, v3, discovery };
}

async function oursJson(answer: Ours, path: string, accept: string): Promise<JsonObject> {
  const reply = await answer(exchangeFor(path, { accept }));
  return JSON.parse(Buffer.from((reply?.body as Uint8Array | undefined) ?? '{}').toString()) as JsonObject;
}

/** Order counts. Where something is stored and under which address it is reached is each server's own. */
function rows(document: JsonObject): string {
  const hidden = ['storageVersionHash', 'serverAddressByClientCIDRs'];
  return JSON.stringify(document, (name, value) => (hidden.includes(name) ? undefined : value), 1);
}

async function compareDocuments(real: Endpoint): Promise<string[]> {
  const { answer, v3, discovery } = await oursWith(await loadSurface(SURFACE));
  const differences: string[] = [];
  const legacy = discovery.groups.flatMap(({ metadata, versions = [] }) => [
    `/apis/${metadata.name}`,
    ...versions.map(({ version }) => `/apis/${metadata.name}/${version}`),
  ]);
  const asked: [string, string][] = ['/api', '/apis', '/api/v1', ...legacy].map((path) => [path, 'application/json']);
  for (const [path, accept] of [...asked, ['/api', AGGREGATED_V2], ['/apis', AGGREGATED_V2]] as [string, string][]) {
    const theirs = rows((await call(real, path, { headers: { accept } })).json<JsonObject>()).split('\n');
    const own = rows(await oursJson(answer, path, accept)).split('\n');
    const at = theirs.findIndex((line, index) => line !== own[index]);
    if (at >= 0 || own.length !== theirs.length) differences.push(`${path} (${accept}): ${theirs[at]} | ${own[at]}`);
  }
  for (const path of v3.paths()) {
    const theirs = (await call(real, `/openapi/v3/${path}`, { timeoutMs: 60_000 })).json<JsonObject>();
    const found = compareOpenApi(theirs, await oursJson(answer, `/openapi/v3/${path}`, 'application/json'));
    differences.push(...found.map((each) => `/openapi/v3/${path}: ${each}`));
  }
  return differences;
}

/** kubectl speaks plain HTTP when told so, which makes a server of a few lines enough. */
async function compareKubectl(kube: KubeApiserver, dir: string): Promise<string[]> {
  const { answer } = await oursWith(await loadSurface(SURFACE));
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const reply = await answer(exchangeFor(request.url ?? '/', headers, request.method));
    response.writeHead(reply?.status ?? 404, [...(reply?.headers ?? [])]);
    response.end(reply?.body as Uint8Array | undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clusters = { real: kube.url, ours: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  writeKubeconfig(join(dir, 'kubeconfig'), { pki: kube.options.pki, clusters, current: 'real' });
  const kubectl = new Kubectl(join(dir, 'kubeconfig'), dir);
  const differences: string[] = [];
  for (const command of COMMANDS) {
    const [real, ours] = [
      await kubectl.run({ context: 'real' }, ...command.split(' ')),
      await kubectl.run({ context: 'ours' }, ...command.split(' ')),
    ].map((text) => withoutProse(text, command));
    if (real !== ours) differences.push(`kubectl ${command}:\n${real}\n---\n${ours}`);
  }
  differences.push(...(await compareOldKubectl({ kubeconfig: join(dir, 'kubeconfig'), dir })));
  await new Promise((resolve) => server.close(resolve));
  return differences;
}

async function compareOldKubectl(place: { readonly kubeconfig: string; readonly dir: string }): Promise<string[]> {
  const old = oldKubectl(place as ControlPlane);
  const differences: string[] = [];
  const explain = async (context: string) => (await old({ context }, 'explain', 'pod.spec', '--recursive')).stdout;
  const [real, ours] = [await explain('real'), await explain('ours')].map((text) => withoutProse(text, '--recursive'));
  if (real !== ours) differences.push(`kubectl 1.20 explain:\n${real}\n---\n${ours}`);
  for (const input of OLD_OBJECTS) {
    const create = (context: string) =>
      old({ context, input }, 'create', '--dry-run=client', '--validate=true', '-f', '-');
    const [theirs, own] = [await create('real'), await create('ours')].map((result) => JSON.stringify(result));
    if (theirs !== own) differences.push(`kubectl 1.20 create: ${theirs}\n---\n${own}`);
  }
  return differences;
}

function withoutProse(text: string, command: string): string {
  if (command.startsWith('api-')) return text;
  const fields = text.replace(/DESCRIPTION:[\s\S]*?(?=FIELDS:|$)/, '').split('\n');
  // Without --recursive each field's prose is indented below it.
  return fields
    .filter((line) => line.trim() !== '' && (command.endsWith('--recursive') || !/^ {4}/.test(line)))
    .join('\n');
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-compare-'));
try {
  const differences = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, async (real, kube) => {
    await makeWidgets(real);
    return [...(await compareDocuments(real)), ...(await compareKubectl(kube, dir))];
  });
  for (const each of differences) process.stdout.write(`${each}\n`);
  process.stdout.write(`${differences.length} differences\n`);
  process.exitCode = differences.length === 0 ? 0 : 1;
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
