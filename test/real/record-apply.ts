/**
 * Records what a real kube-apiserver makes of server-side apply, updates and patches, object and managed fields, into the
 * fixtures that the tests of src/apiserver/apply replay: `tsx test/real/record-apply.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { APPLY_CASES, type CaseStep, CUSTOM_RESOURCE, RECORDED_KINDS } from './record-apply-cases.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/apiserver/apply/apply.recorded.json', import.meta.url));
const MEDIA_TYPES = {
  create: 'application/json',
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const;

async function perform(admin: Endpoint, path: string, name: string, step: CaseStep): Promise<JsonObject> {
  const query = new URLSearchParams({ fieldManager: step.manager, ...(step.force ? { force: 'true' } : {}) });
  const place = step.verb === 'create' ? path : `${path}/${name}${step.subresource ? `/${step.subresource}` : ''}`;
  const answer = await call(admin, `${place}?${query}`, {
    method: step.verb === 'create' ? 'POST' : 'PATCH',
    headers: { 'content-type': MEDIA_TYPES[step.verb] },
    body: JSON.stringify(step.body),
  });
  return answer.json<JsonObject>();
}

async function established(admin: Endpoint, path: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await call(admin, path)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} is never served`);
}

async function record(admin: Endpoint): Promise<Json> {
  await call(admin, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: CUSTOM_RESOURCE,
  });
  await established(admin, RECORDED_KINDS.Widget.path);
  const cases: Json[] = [];
  for (const { name, kind, steps } of APPLY_CASES) {
    const objectName = `case-${cases.length}`;
    const results: Json[] = [];
    for (const step of steps) {
      const named = JSON.parse(JSON.stringify(step).replaceAll('$NAME', objectName)) as CaseStep;
      results.push({
        ...named,
        result: await perform(admin, RECORDED_KINDS[kind].path, objectName, named),
      } as unknown as Json);
    }
    cases.push({ name, kind, steps: results });
  }
  return cases;
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const cases = await withKubeApiserver(dir, { version: 'v1.36.4', flags: [] }, record);
  const lines = (cases as Json[]).map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(FIXTURE, `{"from":"v1.36.4","widget":${JSON.stringify(CUSTOM_RESOURCE)},"cases":[\n${lines}\n]}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
