import assert from 'node:assert/strict';
import { AGGREGATED_V2, type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, type Endpoint, keepAliveAgent } from '../rig/http-client.js';
import type { Skew } from '../rig/skew.js';
import type { Scenario } from '../scenario.js';
import { newerPath } from './newer-api.js';

const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const OPENAPI_LAG_MS = 30_000;

type Index = Readonly<Record<string, { readonly serverRelativeURL: string }>>;
interface OpenApiDocument {
  readonly paths?: object;
  readonly components?: { readonly schemas?: object };
  readonly definitions?: object;
}
interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

export const everyDocument: Scenario = {
  number: 19,
  name: 'every path of /openapi/v3 and every group-version of /apis: 200 through each Straddle, the same union everywhere',
  timeoutMs: 240_000,
  async run({ plane, defer }) {
    const agent = keepAliveAgent(8);
    defer(() => agent.destroy());
    const get = async (endpoint: Endpoint, path: string, accept = 'application/json'): Promise<Answer> => {
      const answer = await call(endpoint, path, { headers: { accept }, agent });
      assert.equal(answer.status, 200, `${endpoint.url}${path} (${accept}): ${answer.text.slice(0, 300)}`);
      return answer;
    };
    for (const skew of ['default', 'batch'] as const) {
      await plane.arrange(layoutOf(skew));
      await legacyLists(plane, get);
      await openApiV3(plane, get, skew);
      await openApiV2(plane, get);
      await readersOnly(plane);
    }
  },
};

type Get = (endpoint: Endpoint, path: string, accept?: string) => Promise<Answer>;

async function legacyLists({ all }: ControlPlane, get: Get): Promise<void> {
  const straddles = all.map(({ straddle }) => straddle.admin);
  const groups = await alike(straddles, '/apis', get);
  const { groups: listed } = groups.json<GroupList>();
  const paths = listed.flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
  ]);
  assert.ok(paths.includes(newerPath()) && paths.includes('/apis/batch/v1'));
  for (const path of [...paths, '/api/v1']) await alike(straddles, path, get);
  // Not from the servers' own legacy lists: those lose what another server does not know when that one starts.
  const raw = await Promise.all(all.map(({ kube }) => get(kube.admin, '/apis', `${AGGREGATED_V2};profile=nopeer`)));
  const union = new Set(raw.flatMap(aggregatedVersions));
  const merged = listed.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
  assert.deepEqual(new Set(merged), union, '/apis is not the union of what the servers list');
}

function aggregatedVersions(answer: Answer): string[] {
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: { version: string }[] }[] }>();
  return items.flatMap(({ metadata, versions }) => versions.map(({ version }) => `${metadata.name}/${version}`));
}

/** The same bytes through every Straddle. */
async function alike(straddles: readonly Endpoint[], path: string, get: Get, accept?: string): Promise<Answer> {
  const answers = await Promise.all(straddles.map((straddle) => get(straddle, path, accept)));
  const [first] = answers;
  for (const answer of answers) {
    assert.ok(answer.body.equals(first!.body), `${path}: the bytes differ between servers`);
    assert.equal(answer.headers['content-type'], first!.headers['content-type'], path);
  }
  return first!;
}

async function openApiV3({ all }: ControlPlane, get: Get, skew: Skew): Promise<void> {
  const straddles = all.map(({ straddle }) => straddle.admin);
  const indexOf = async (endpoint: Endpoint): Promise<Index> =>
    (await get(endpoint, '/openapi/v3')).json<{ paths: Index }>().paths;
  // A server publishes its OpenAPI some time after its discovery.
  const index = await eventually(
    'all Straddles list the same OpenAPI documents',
    async () => {
      const [first, ...others] = await Promise.all(straddles.map(indexOf));
      for (const other of others) assert.deepEqual(other, first);
      return first;
    },
    { timeoutMs: OPENAPI_LAG_MS },
  );
  const raw = await Promise.all(all.map(({ kube }) => indexOf(kube.admin)));
  assert.deepEqual(new Set(Object.keys(index)), new Set(raw.flatMap((each) => Object.keys(each))));

  for (const [path, { serverRelativeURL }] of Object.entries(index)) {
    const merged = await alike(straddles, serverRelativeURL, get);
    await alike(straddles, `/openapi/v3/${path}`, get);
    await alike(straddles, serverRelativeURL, get, V3_PROTOBUF);
    const parts = all.filter((_, at) => raw[at]?.[path] !== undefined);
    assert.ok(parts.length > 0);
    const documents = await Promise.all(parts.map(({ kube }) => get(kube.admin, `/openapi/v3/${path}`)));
    assert.deepEqual(namesIn([merged]), namesIn(documents), `${skew}: ${path} is not the union of its parts`);
  }
}

async function openApiV2({ all }: ControlPlane, get: Get): Promise<void> {
  const straddles = all.map(({ straddle }) => straddle.admin);
  const merged = await alike(straddles, '/openapi/v2', get);
  await alike(straddles, '/openapi/v2', get, V2_PROTOBUF);
  const raw = await Promise.all(all.map(({ kube }) => get(kube.admin, '/openapi/v2')));
  assert.deepEqual(namesIn([merged]), namesIn(raw), '/openapi/v2 is not the union of its parts');
}

/** Checks that the API server decides who may read which document. */
async function readersOnly({ a, b }: ControlPlane): Promise<void> {
  const paths = ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/batch/v1', '/apis', '/apis/batch/v1'];
  for (const path of paths) {
    const straight = await call({ url: b.kube.url, ca: a.straddle.anonymous.ca }, path);
    assert.equal(straight.status, 403, `${path}: anonymous readers must not be allowed here`);
    const through = await call(a.straddle.anonymous, path);
    assert.equal(through.status, 403, `${path}: ${through.text.slice(0, 300)}`);
    assert.deepEqual(through.json(), straight.json(), path);
    assert.equal((await call(a.straddle.alice, path)).status, 200, `${path}: alice may read it`);
  }
}

/** Names of all operations, schemas and definitions. */
function namesIn(documents: readonly Answer[]): Set<string> {
  const names = new Set<string>();
  for (const document of documents) {
    const { paths = {}, components, definitions = {} } = document.json<OpenApiDocument>();
    for (const [path, item] of Object.entries(paths)) {
      for (const member of Object.keys(item as object)) names.add(`${member} ${path}`);
    }
    for (const name of Object.keys(components?.schemas ?? {})) names.add(`schema ${name}`);
    for (const name of Object.keys(definitions)) names.add(`definition ${name}`);
  }
  return names;
}
