/**
 * Records what real kube-apiservers make of objects of built-in kinds, good and bad, into the fixtures that the tests of
 * src/apiserver/builtin replay: `tsx test/real/record-builtin.ts` for all versions, `… 1.38` for one that was added.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  baseRecords,
  differencesOf,
  type Recorded,
  type RecordedCase,
  type RecordedStep,
  recordFile,
  type SetupObject,
} from '../../src/apiserver/builtin/builtin-records.fixture.js';
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
import { ensureBinaries, serverBinaries } from './rig/binaries.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { type KubeVersion, pinnedVersions } from './rig/pinned-versions.js';
import { stopEverything } from './rig/process.js';

/** The version that is stored whole; all others are stored as differences from it. */
const BASE = '1.36';
const ALL_CASES: readonly BuiltInCase[] = [
  ...POD_CASES,
  ...MORE_CASES,
  ...RARE_CASES,
  ...WORKLOAD_CASES,
  ...SERVICE_CASES,
  ...CONFIG_CASES,
  ...CLUSTER_CASES,
];
const METHODS = { create: 'POST', update: 'PUT', merge: 'PATCH' } as const;
const LONG_TEXT = /x{1000,}/g;

function pathOf({ group, version, resource, namespace }: Omit<BuiltInCase, 'name' | 'steps'>): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`;
}

async function perform(admin: Endpoint, each: BuiltInCase, name: string, step: BuiltInStep) {
  const sub = step.subresource === undefined ? '' : `/${step.subresource}`;
  const answer = await call(admin, step.verb === 'create' ? pathOf(each) : `${pathOf(each)}/${name}${sub}`, {
    method: METHODS[step.verb],
    headers: { 'content-type': step.verb === 'merge' ? 'application/merge-patch+json' : 'application/json' },
    body: JSON.stringify(step.body),
  });
  if (answer.status === 409) throw new Error(`${each.name}: another case has written this object: ${answer.text}`);
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

async function record(admin: Endpoint, from: KubeVersion): Promise<Recorded> {
  const setup: SetupObject[] = [];
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
  const cases: RecordedCase[] = [];
  for (const each of ALL_CASES) {
    if (cases.some(({ name }) => name === each.name)) throw new Error(`two cases have the name ${each.name}`);
    const { name } = each.steps[0]!.body['metadata'] as { name: string };
    const steps: RecordedStep[] = [];
    for (const step of each.steps) {
      const body = JSON.parse(JSON.stringify(step.body).replaceAll(LONG_TEXT, '$LONG')) as JsonObject;
      steps.push({ ...step, body, ...(await perform(admin, each, name, step)) });
    }
    cases.push({ ...each, steps });
  }
  return { from, setup, cases };
}

async function recordFrom(release: KubeVersion): Promise<Recorded> {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    return await withKubeApiserver(dir, { version: release, flags: [] }, (admin) => record(admin, release));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** One line for each member of the lists: a difference of Git shows the case. */
function lines(head: Record<string, Json>, lists: Record<string, readonly unknown[]>): string {
  const members = Object.entries(lists).map(
    ([name, items]) => `${JSON.stringify(name)}:[\n${items.map((each) => JSON.stringify(each)).join(',\n')}\n]`,
  );
  return `${JSON.stringify(head).slice(0, -1)},${members.join(',')}}\n`;
}

async function main(wanted: readonly string[]): Promise<void> {
  const pinned = pinnedVersions();
  const minors = wanted.length > 0 ? wanted : [...pinned.keys()];
  // First, because the others are compared with it.
  for (const minor of [...minors].sort((left, right) => Number(right === BASE) - Number(left === BASE))) {
    const release = pinned.get(minor);
    if (release === undefined) throw new Error(`${minor} is not one of ${[...pinned.keys()].join(', ')}`);
    await ensureBinaries((line) => process.stdout.write(`${line}\n`), serverBinaries(release));
    const recorded = await recordFrom(release);
    if (minor === BASE) {
      const { from, setup, cases } = recorded;
      writeFileSync(recordFile(minor, recorded), lines({ from }, { setup, cases }));
      process.stdout.write(`recorded ${cases.length} cases from ${release}\n`);
    } else {
      const base = baseRecords();
      const { from, base: against, requests, setup, steps } = differencesOf(base, recorded);
      writeFileSync(recordFile(minor, base), lines({ from, base: against, requests }, { setup, steps }));
      process.stdout.write(`recorded ${steps.length} answers of ${release} that differ from ${against}\n`);
    }
  }
}

try {
  await main(process.argv.slice(2));
} finally {
  await stopEverything();
}
