/**
 * Records the Table answers of a real kube-apiserver for objects in many states, into the fixture that the tests of
 * src/apiserver/table compare with: `tsx test/real/record-tables.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { MORE_TABLE_OBJECTS } from './record-tables-more-objects.js';
import { TABLE_OBJECTS } from './record-tables-objects.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/apiserver/table/tables.recorded.json', import.meta.url));
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

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const tables = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record);
  writeFileSync(FIXTURE, `[\n${tables.map((table) => JSON.stringify(table)).join(',\n')}\n]\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
