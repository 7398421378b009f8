/**
 * Records what a real kube-apiserver says to CustomResourceDefinitions and custom resources, good and bad, into the
 * fixtures that the tests of src/apiserver/crd replay: `tsx test/real/record-crd.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/kube/json.js';
import {
  DEFINITION_CASES,
  definition,
  LOOSE_GADGETS,
  RESOURCE_CASES,
  type ResourceCase,
  TIGHT_GADGETS,
  UPDATE_CASES,
} from './record-crd-cases.js';
import { type Answer, call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../src/apiserver/crd/${name}.recorded.json`, import.meta.url));

/** The causes of a refusal, or the parts of what was accepted that are named. */
function outcome(answer: Answer, ...parts: string[]): JsonObject {
  const body = answer.json<JsonObject>();
  const warnings = answer.headers['warning'];
  const said = warnings === undefined ? {} : { warnings: warnings.split(/, (?=299 )/) };
  if (answer.status >= 400) {
    const details = body['details'] as { causes?: Json } | undefined;
    const { code, message } = body as { code: Json; message: Json };
    return { code, ...(details?.causes === undefined ? { message } : { causes: details.causes }), ...said };
  }
  const taken = parts.filter((part) => body[part] !== undefined).map((part) => [part, body[part]!]);
  return { code: answer.status, ...said, ...(Object.fromEntries(taken) as JsonObject) };
}

async function until<T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < 100; count++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never: ${what}`);
}

const post = (admin: Endpoint, path: string, body: Json): Promise<Answer> =>
  call(admin, path, { method: 'POST', body: body as object });
const put = (admin: Endpoint, path: string, body: Json): Promise<Answer> =>
  call(admin, path, { method: 'PUT', body: body as object });

interface Definition {
  metadata: { resourceVersion: string };
  status: { conditions?: { type: string; status: string }[] };
}

async function withCondition(admin: Endpoint, name: string, type: string): Promise<Definition> {
  return until(`${name} ${type}`, async () => {
    const crd = (await call(admin, `${DEFINITIONS}/${name}`)).json<JsonObject>() as unknown as Definition;
    const found = crd.status.conditions?.some((each) => each.type === type && each.status !== 'Unknown');
    return found ? crd : undefined;
  });
}

async function recordDefinitions(admin: Endpoint): Promise<JsonObject> {
  const created: Json[] = [];
  for (const { name, crd } of DEFINITION_CASES) {
    const answer = await post(admin, `${DEFINITIONS}?dryRun=All&fieldValidation=Ignore`, crd);
    created.push({ name, crd, answer: outcome(answer, 'spec', 'status') });
  }
  await post(admin, DEFINITIONS, DEFINITION_CASES[0]!.crd);
  await until('established', async () =>
    (await call(admin, '/apis/example.com/v1/widgets')).status === 200 ? true : undefined,
  );
  const live = await withCondition(admin, 'widgets.example.com', 'Established');
  const updated: Json[] = [];
  for (const { name, crd } of UPDATE_CASES) {
    const body = { ...crd, metadata: { name: 'widgets.example.com', resourceVersion: live.metadata.resourceVersion } };
    const answer = await put(admin, `${DEFINITIONS}/widgets.example.com?dryRun=All`, body);
    updated.push({ name, crd, answer: outcome(answer, 'spec', 'status') });
  }
  const names = { plural: 'others', singular: 'widget', kind: 'Widget', shortNames: ['widgets', 'oo'] };
  const conflicting = definition({ name: 'others.example.com', names });
  await post(admin, DEFINITIONS, conflicting);
  const conflict = await withCondition(admin, 'others.example.com', 'NamesAccepted');
  return {
    created,
    updated,
    statuses: [
      { crd: DEFINITION_CASES[0]!.crd, status: live.status as unknown as Json },
      { crd: conflicting, status: conflict.status as unknown as Json },
    ],
  };
}

async function recordResource(admin: Endpoint, each: ResourceCase, liveName: string): Promise<JsonObject> {
  const name = each.live === undefined ? (each.objectName ?? 'a') : liveName;
  const body: JsonObject = {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    ...(each.spec === undefined ? {} : { spec: each.spec }),
    ...(each.status === undefined ? {} : { status: each.status }),
    ...each.more,
    metadata: { ...(each.more?.['metadata'] as JsonObject | undefined), name },
  };
  const input = JSON.parse(JSON.stringify({ ...each, body })) as JsonObject;
  if (each.live === undefined) {
    const answer = await post(admin, `${GADGETS}?dryRun=All`, body);
    return { ...input, answer: outcome(answer, 'spec', 'status') };
  }
  const isStatus = each.spec === undefined;
  const live = (await call(admin, `${GADGETS}/${name}`)).json<JsonObject>();
  const resourceVersion = (live['metadata'] as { resourceVersion: string }).resourceVersion;
  const path = `${GADGETS}/${name}${isStatus ? '/status' : ''}?dryRun=All`;
  const metadata = { ...(body['metadata'] as JsonObject), resourceVersion };
  return { ...input, answer: outcome(await put(admin, path, { ...body, metadata }), 'spec', 'status') };
}

async function recordResources(admin: Endpoint): Promise<JsonObject> {
  await post(admin, DEFINITIONS, LOOSE_GADGETS);
  await until('gadgets', async () => ((await call(admin, GADGETS)).status === 200 ? true : undefined));
  for (const [index, { live }] of RESOURCE_CASES.entries()) {
    const metadata = { name: `live-${index}` };
    if (live !== undefined)
      await post(admin, GADGETS, { apiVersion: 'example.com/v1', kind: 'Gadget', metadata, spec: live });
  }
  const finalized = {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'stays', finalizers: ['example.com/x'] },
  };
  await post(admin, GADGETS, finalized);
  const loose = await withCondition(admin, 'gadgets.example.com', 'Established');
  const metadata = { name: 'gadgets.example.com', resourceVersion: loose.metadata.resourceVersion };
  await put(admin, `${DEFINITIONS}/gadgets.example.com`, { ...TIGHT_GADGETS, metadata });
  const probe = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'probe' }, spec: {} };
  await until('tight', async () =>
    (await post(admin, `${GADGETS}?dryRun=All`, probe)).status === 422 ? true : undefined,
  );
  const cases: Json[] = [];
  for (const [index, each] of RESOURCE_CASES.entries()) cases.push(await recordResource(admin, each, `live-${index}`));
  return {
    definition: TIGHT_GADGETS,
    cases,
    ...(await recordPublished(admin)),
    conversion: await recordConversion(admin),
    terminating: await recordEnd(admin),
  };
}

async function recordPublished(admin: Endpoint): Promise<JsonObject> {
  const v3 = (await call(admin, '/openapi/v3/apis/example.com/v1')).json<{ components: { schemas: JsonObject } }>();
  const v2 = await until('openapi v2', async () => {
    const { definitions } = (await call(admin, '/openapi/v2')).json<{ definitions: JsonObject }>();
    return definitions['com.example.v1.Gadget'] === undefined ? undefined : definitions;
  });
  // Descriptions are the server's own texts, and nothing here says them.
  const pick = (all: JsonObject): JsonObject => {
    const own = {
      'com.example.v1.Gadget': all['com.example.v1.Gadget']!,
      'com.example.v1.GadgetList': all['com.example.v1.GadgetList']!,
    };
    return JSON.parse(
      JSON.stringify(own, (key, value: Json) => (key === 'description' ? undefined : value)),
    ) as JsonObject;
  };
  return { openApiV3: pick(v3.components.schemas), openApiV2: pick(v2) };
}

/** What a webhook that nobody answers at does to reads in another version. */
async function recordConversion(admin: Endpoint): Promise<JsonObject> {
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', properties: { name: { type: 'string', default: name } } } },
  });
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
  };
  const names = { plural: 'gears', singular: 'gear', kind: 'Gear' };
  const versions = [version('v1', true), version('v2', false)];
  await post(admin, DEFINITIONS, definition({ name: 'gears.example.com', names, versions, spec: { conversion } }));
  const path = (name: string): string => `/apis/example.com/${name}/namespaces/default/gears`;
  await until('gears', async () => ((await call(admin, path('v1'))).status === 200 ? true : undefined));
  await post(admin, path('v1'), { apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'a' } });
  return outcome(await call(admin, `${path('v2')}/a`));
}

async function recordEnd(admin: Endpoint): Promise<JsonObject> {
  await call(admin, `${DEFINITIONS}/gadgets.example.com`, { method: 'DELETE' });
  const crd = await withCondition(admin, 'gadgets.example.com', 'Terminating');
  const body = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'late' }, spec: { must: 'yes' } };
  const answer = await until('refused', async () => {
    const created = await post(admin, `${GADGETS}?dryRun=All`, body);
    return created.status === 201 ? undefined : created;
  });
  const discovery = (await call(admin, '/apis/example.com/v1')).json<JsonObject>();
  return { status: crd.status as unknown as Json, answer: outcome(answer), discovery };
}

/** One case a line, and nothing that is another every time. */
function write(name: string, recorded: JsonObject): void {
  const shown = (value: Json): string =>
    JSON.stringify(value, (key, each: Json) => (key === 'lastTransitionTime' ? undefined : each));
  const lines = Object.entries(recorded).map(([key, value]) => {
    const text = Array.isArray(value) ? `[\n${value.map(shown).join(',\n')}\n]` : shown(value);
    return `${JSON.stringify(key)}:${text}`;
  });
  writeFileSync(fixture(name), `{${lines.join(',\n')}}\n`);
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, async (admin) => {
    write('definitions', { from: 'v1.36.4', ...(await recordDefinitions(admin)) });
    write('resources', { from: 'v1.36.4', ...(await recordResources(admin)) });
  });
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
