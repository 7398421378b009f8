/**
 * Records what a real kube-apiserver makes of CEL rules: values of expressions, definitions it refuses, objects that break
 * rules. The tests of src/apiserver/cel replay it: `tsx test/real/record-cel.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type Json, type JsonObject } from '../../src/kube/json.js';
import {
  COSTS,
  DEFINITIONS,
  OBJECTS,
  type ObjectCase,
  VALUE_OBJECT,
  VALUE_SCHEMA,
  VALUES,
} from './record-cel-cases.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/apiserver/cel/rules.recorded.json', import.meta.url));
const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ATTEMPTS_MAX = 200;
const VALUES_AT_ONCE = 60;
/** Even the cheapest rule costs too much for a longer list. */
const LIST_LENGTH_MAX = 2_400;
const COSTS_AT_ONCE = 8;
/** Until a changed definition is what objects are judged by. */
const SCHEMA_SETTLE_MS = 3_000;

function definition(plural: string, schema: JsonObject): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${plural}.example.com` },
    spec: {
      // A group of its own: the kind is the same everywhere.
      group: `${plural}.example.com`,
      scope: 'Namespaced',
      names: { plural, singular: plural.replace(/s$/, ''), kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/** What a refusal says of each field; nothing when there is none. */
function causesOf(answer: JsonObject): Json[] {
  const { details } = answer;
  if (!isObject(details) || !Array.isArray(details['causes'])) return [];
  return details['causes'];
}

async function refusal(admin: Endpoint, schema: JsonObject): Promise<Json[]> {
  const body = definition('things', schema);
  const answer = await call(admin, `${DEFINITIONS_PATH}?dryRun=All`, { method: 'POST', body });
  if (answer.status !== 201 && answer.status !== 422) throw new Error(`${answer.status}: ${answer.text}`);
  return causesOf(answer.json<JsonObject>());
}

async function established(admin: Endpoint, path: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if ((await call(admin, path)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} is never served`);
}

async function replaceSchema(admin: Endpoint, plural: string, schema: JsonObject): Promise<void> {
  const { spec } = definition(plural, schema) as { spec: JsonObject };
  const answer = await call(admin, `${DEFINITIONS_PATH}/${plural}.${plural}.example.com`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ spec: { versions: spec['versions']! } }),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  await new Promise((resolve) => setTimeout(resolve, SCHEMA_SETTLE_MS));
}

async function written(admin: Endpoint, index: number, { before, schema, steps }: ObjectCase): Promise<Json[]> {
  const plural = `things${String.fromCharCode(97 + index)}s`;
  const made = await call(admin, DEFINITIONS_PATH, { method: 'POST', body: definition(plural, before ?? schema) });
  if (made.status !== 201) throw new Error(made.text);
  const path = `/apis/${plural}.example.com/v1/namespaces/default/${plural}`;
  await established(admin, path);
  const results: Json[] = [];
  for (const [place, step] of steps.entries()) {
    if (place === 1 && before !== undefined) await replaceSchema(admin, plural, schema);
    const live = await call(admin, `${path}/thing`);
    const isNew = live.status === 404;
    const metadata: JsonObject = { name: 'thing' };
    if (!isNew) metadata['resourceVersion'] = live.json().metadata!.resourceVersion!;
    const body = { apiVersion: `${plural}.example.com/v1`, kind: 'Thing', metadata, ...step };
    const answer = await call(admin, isNew ? path : `${path}/thing`, { method: isNew ? 'POST' : 'PUT', body });
    if (![200, 201, 422].includes(answer.status)) throw new Error(`${answer.status}: ${answer.text}`);
    const warnings = ([] as string[]).concat(answer.headers['warning'] ?? []);
    results.push({ object: step, isNew, status: answer.status, causes: causesOf(answer.json<JsonObject>()), warnings });
  }
  return results;
}

function valueSchema(expressions: readonly string[]): JsonObject {
  const rules = expressions.map((expression, index) => ({
    rule: `size([dyn(${expression})]) == 2`,
    message: `#${index}`,
    messageExpression: `'#${index} %s'.format([${expression}])`,
  }));
  const spec = { ...VALUE_SCHEMA, 'x-kubernetes-validations': rules as unknown as Json };
  return { type: 'object', properties: { spec } };
}

/** Every expression stands in a rule that is never true, and is shown by its message; some are refused before. */
async function values(admin: Endpoint): Promise<Json> {
  const refused: Json[] = [];
  const accepted: string[] = [];
  for (const expression of VALUES) {
    const causes = await refusal(admin, valueSchema([expression]));
    if (causes.length === 0) accepted.push(expression);
    else refused.push([expression, causes]);
  }
  const shown: Json[] = [];
  for (let start = 0; start < accepted.length; start += VALUES_AT_ONCE) {
    const part = accepted.slice(start, start + VALUES_AT_ONCE);
    const steps = [{ spec: VALUE_OBJECT }];
    const index = OBJECTS.length + start / VALUES_AT_ONCE;
    const [result] = (await written(admin, index, { name: 'values', schema: valueSchema(part), steps })) as [
      JsonObject,
    ];
    const causes = result['causes'] as { message: string }[];
    for (const [place, expression] of part.entries()) {
      const cause = causes.find(({ message }) => new RegExp(`(?:: |rule: )#${place}(?: |$)`, 's').test(message));
      shown.push([expression, cause?.message.replace(/#\d+ ?/, '#') ?? null]);
    }
  }
  return [...shown, ...refused];
}

function costRule(rule: string): string {
  return `self.all(o, (lists.range(100).${rule}) || true)`;
}

/** The longest list each rule can be asked of, found by halving. */
async function costs(admin: Endpoint): Promise<Json> {
  const found: Json[] = [];
  // Too many rules in one definition would be too expensive together.
  for (let start = 0; start < COSTS.length; start += COSTS_AT_ONCE) {
    const plural = `costly${String.fromCharCode(97 + start / COSTS_AT_ONCE)}s`;
    found.push(...(await costsOf(admin, plural, COSTS.slice(start, start + COSTS_AT_ONCE))));
  }
  return found;
}

async function costsOf(admin: Endpoint, plural: string, rules: readonly string[]): Promise<Json[]> {
  const properties = Object.fromEntries(
    rules.map((rule, index) => [
      `p${index}`,
      {
        type: 'array',
        maxItems: LIST_LENGTH_MAX,
        items: { type: 'integer' },
        'x-kubernetes-validations': [{ rule: costRule(rule) }],
      },
    ]),
  ) as JsonObject;
  const refused = await refusal(admin, { type: 'object', properties: { spec: { type: 'object', properties } } });
  const tooExpensive = new Set(refused.map((each) => /\[p(\d+)\]/.exec((each as { field: string }).field)?.[1]));
  for (const index of tooExpensive) delete properties[`p${index}`];
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const made = await call(admin, DEFINITIONS_PATH, { method: 'POST', body: definition(plural, schema) });
  if (made.status !== 201) throw new Error(made.text);
  const path = `/apis/${plural}.example.com/v1/namespaces/default/${plural}`;
  await established(admin, path);
  const found: Json[] = [];
  for (const [index, rule] of rules.entries()) {
    if (tooExpensive.has(String(index))) continue;
    let [fits, exceeds] = [1, LIST_LENGTH_MAX + 1];
    while (exceeds - fits > 1) {
      const middle = Math.floor((fits + exceeds) / 2);
      const spec = { [`p${index}`]: Array.from({ length: middle }, () => 1) };
      const body = { apiVersion: `${plural}.example.com/v1`, kind: 'Thing', metadata: { name: 'thing' }, spec };
      const answer = await call(admin, `${path}?dryRun=All`, { method: 'POST', body });
      if (answer.text.includes('cost limit exceeded')) exceeds = middle;
      else fits = middle;
    }
    found.push([costRule(rule), fits]);
  }
  return found;
}

async function record(admin: Endpoint): Promise<JsonObject> {
  const definitions: Json[] = [];
  for (const each of DEFINITIONS)
    definitions.push({ ...each, causes: await refusal(admin, each.schema) } as unknown as Json);
  const objects: Json[] = [];
  for (const [index, each] of OBJECTS.entries()) {
    objects.push({
      name: each.name,
      hasBefore: each.before !== undefined,
      schema: each.schema,
      steps: await written(admin, index, each),
    });
  }
  return { definitions, objects, values: await values(admin), costs: await costs(admin) };
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const recorded = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record);
  const lines = (name: string): string => (recorded[name] as Json[]).map((each) => JSON.stringify(each)).join(',\n');
  const parts = ['definitions', 'objects', 'values', 'costs'].map((name) => `"${name}":[\n${lines(name)}\n]`);
  const head = `"from":"v1.36.4","valueSchema":${JSON.stringify(VALUE_SCHEMA)},"valueObject":${JSON.stringify(VALUE_OBJECT)}`;
  writeFileSync(FIXTURE, `{${head},\n${parts.join(',\n')}}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
