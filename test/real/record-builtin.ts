/**
 * Records what a real kube-apiserver makes of objects of built-in kinds, good and bad, into the fixture that the tests of
 * src/apiserver/builtin replay: `tsx test/real/record-builtin.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type Json, type JsonObject } from '../../src/kube/json.js';
import type { BuiltInCase, BuiltInStep } from './builtin-cases/case.js';
import { CLUSTER_CASES } from './builtin-cases/cluster.js';
import { CONFIG_CASES } from './builtin-cases/config.js';
import { MORE_CASES } from './builtin-cases/more.js';
import { POD_CASES } from './builtin-cases/pods.js';
import { RARE_CASES } from './builtin-cases/rare.js';
import { SERVICE_CASES } from './builtin-cases/services.js';
import { SETUP_OBJECTS } from './builtin-cases/setup.js';
import { WORKLOAD_CASES } from './builtin-cases/workloads.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/apiserver/builtin/builtin.recorded.json', import.meta.url));
const METHODS = { create: 'POST', update: 'PUT', merge: 'PATCH' } as const;
const LONG_TEXT = /x{1000,}/g;

function pathOf({ group, version, resource, namespace }: Omit<BuiltInCase, 'name' | 'steps'>): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`;
}

async function perform(admin: Endpoint, each: BuiltInCase, name: string, step: BuiltInStep): Promise<JsonObject> {
  const sub = step.subresource === undefined ? '' : `/${step.subresource}`;
  const answer = await call(admin, step.verb === 'create' ? pathOf(each) : `${pathOf(each)}/${name}${sub}`, {
    method: METHODS[step.verb],
    headers: { 'content-type': step.verb === 'merge' ? 'application/merge-patch+json' : 'application/json' },
    body: JSON.stringify(step.body),
  });
  const warnings = answer.headers.warning === undefined ? {} : { warnings: String(answer.headers.warning) };
  return { status: answer.status, ...warnings, answer: strip(answer.json<JsonObject>()) };
}

/** Without what differs from run to run. */
function strip(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const { resourceVersion: _, creationTimestamp: __, managedFields: ___, uid, ...rest } = metadata;
  const text = JSON.stringify({ ...object, metadata: rest }).replaceAll(LONG_TEXT, '$LONG');
  return JSON.parse(uid === undefined ? text : text.replaceAll(String(uid), '$UID')) as JsonObject;
}

async function record(admin: Endpoint): Promise<Json> {
  const setup: Json[] = [];
  for (const { what, object, deleted } of SETUP_OBJECTS) {
    const made = await call(admin, pathOf(what), { method: 'POST', body: JSON.stringify(object) });
    if (made.status >= 300) throw new Error(made.text);
    const { name } = object['metadata'] as { name: string };
    if (deleted === true) await call(admin, `${pathOf(what)}/${name}`, { method: 'DELETE' });
    const stored = await call(admin, `${pathOf(what)}/${name}`);
    setup.push({ group: what.group, resource: what.resource, object: strip(stored.json<JsonObject>()) });
  }
  // Admission reads from its caches.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const cases: Json[] = [];
  for (const each of [
    ...POD_CASES,
    ...MORE_CASES,
    ...RARE_CASES,
    ...WORKLOAD_CASES,
    ...SERVICE_CASES,
    ...CONFIG_CASES,
    ...CLUSTER_CASES,
  ]) {
    const { name } = each.steps[0]!.body['metadata'] as { name: string };
    const steps: Json[] = [];
    for (const step of each.steps) {
      const body = JSON.parse(JSON.stringify(step.body).replaceAll(LONG_TEXT, '$LONG')) as JsonObject;
      steps.push({ ...step, body, ...(await perform(admin, each, name, step)) });
    }
    cases.push({ ...each, steps });
  }
  return { setup, cases };
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const { setup, cases } = (await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record)) as {
    setup: Json[];
    cases: Json[];
  };
  const lines = (items: Json[]): string => items.map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(FIXTURE, `{"from":"v1.36.4","setup":[\n${lines(setup)}\n],"cases":[\n${lines(cases)}\n]}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
