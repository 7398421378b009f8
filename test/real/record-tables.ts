/**
 * Records the Table answers of real kube-apiservers for objects in many states, into the fixtures that the tests of
 * src/apiserver/table compare with: all of them from 1.36, and from any other version those with other columns.
 * `tsx test/real/record-tables.ts` for 1.36 and 1.37, `… 1.38` for one version.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, type JsonObject, jsonEqual } from '../../src/kube/json.js';
import { MORE_TABLE_OBJECTS } from './record-tables-more-objects.js';
import { TABLE_OBJECTS } from './record-tables-objects.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { type KubeVersion, pinnedRelease } from './rig/pinned-versions.js';
import { stopEverything } from './rig/process.js';

const BASE = '1.36';
const BY_DEFAULT = [BASE, '1.37'];
const FOLDER = new URL('../../src/apiserver/table/', import.meta.url);
const BASE_FILE = new URL('tables.recorded.json', FOLDER);
/** In which a kube-apiserver writes the status of definitions. */
const DEFINITIONS_SETTLE_MS = 3_000;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

async function make(admin: Endpoint, path: string, object: JsonObject): Promise<void> {
  const { status, deleted, ...body } = object;
  const name = (object['metadata'] as JsonObject)['name'];
  const expectMade = async (method: string, place: string, sent?: Json): Promise<void> => {
    const answer = await call(admin, place, {
      method,
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      ...(method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {}),
    });
    if (answer.status >= 300) throw new Error(`${method} ${place}: ${answer.text.slice(0, 500)}`);
  };
  await expectMade('POST', path, body);
  if (status !== undefined) await expectMade('PATCH', `${path}/${name}/status`, { status });
  if (deleted === true) await expectMade('DELETE', `${path}/${name}`);
}

async function record(admin: Endpoint): Promise<JsonObject[]> {
  const tables: JsonObject[] = [];
  for (const { group, resource, path, objects } of [...TABLE_OBJECTS, ...MORE_TABLE_OBJECTS]) {
    for (const object of objects) await make(admin, path, object);
    if (resource === 'customresourcedefinitions') await new Promise((done) => setTimeout(done, DEFINITIONS_SETTLE_MS));
    const list = (await call(admin, path)).json<JsonObject>();
    const answer = await call(admin, path, { headers: { accept: TABLE } });
    const table = answer.json<{ columnDefinitions: JsonObject[]; rows: JsonObject[]; metadata: JsonObject }>();
    tables.push({
      group,
      resource,
      now: new Date(String(answer.headers.date)).toISOString(),
      list: withoutManagers(list),
      columns: table.columnDefinitions.map(({ description: _, ...column }) => column),
      rows: (table.rows ?? []).map(({ object: _, ...row }) => row),
    });
  }
  return tables;
}

function withoutManagers(list: JsonObject): JsonObject {
  const items = ((list['items'] ?? []) as JsonObject[]).map((item) => {
    const { managedFields: _, ...metadata } = item['metadata'] as JsonObject;
    return { ...item, metadata };
  });
  return { ...list, items };
}

async function recordFrom(version: KubeVersion): Promise<JsonObject[]> {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    return await withKubeApiserver(dir, { version, flags: [] }, record);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The tables that have other columns than those of the base. */
function withOtherColumns(tables: readonly JsonObject[]): JsonObject[] {
  const base = JSON.parse(readFileSync(BASE_FILE, 'utf8')) as JsonObject[];
  const columnsOf = new Map(base.map(({ group, resource, columns }) => [`${group}/${resource}`, columns]));
  return tables.filter(({ group, resource, columns }) => {
    const before = columnsOf.get(`${group}/${resource}`);
    return before === undefined || !jsonEqual(columns!, before);
  });
}

async function main(wanted: readonly string[]): Promise<void> {
  for (const minor of wanted.length > 0 ? wanted : BY_DEFAULT) {
    const release = pinnedRelease(minor);
    if (release === undefined) throw new Error(`${minor} is not one of the pinned versions`);
    const tables = await recordFrom(release);
    const kept = minor === BASE ? tables : withOtherColumns(tables);
    const file = minor === BASE ? BASE_FILE : new URL(`tables-${minor}.recorded.json`, FOLDER);
    writeFileSync(file, `[\n${kept.map((table) => JSON.stringify(table)).join(',\n')}\n]\n`);
    process.stdout.write(`recorded ${kept.length} of ${tables.length} tables from ${release}\n`);
  }
}

try {
  await main(process.argv.slice(2));
} finally {
  await stopEverything();
}
