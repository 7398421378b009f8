/**
 * Records objects of a real kube-apiserver both as JSON and as protobuf, for the tests of src/apiserver/protobuf:
 * `tsx test/real/record-protobuf.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/kube/json.js';
import { PROTOBUF_OBJECTS, type ProtobufObject } from './record-protobuf-objects.js';
import { type Call, call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const OBJECTS = fileURLToPath(new URL('../../src/apiserver/protobuf/objects.recorded.json', import.meta.url));
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ATTEMPTS_MAX = 50;

/** Some objects in one answer. */
const ANSWERS: readonly { path: string; call?: Call; accept?: string }[] = [
  { path: '/api/v1/namespaces/default/configmaps' },
  { path: '/api/v1/namespaces/default/configmaps/c', accept: ';as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
  { path: '/api/v1/namespaces/default/configmaps/none' },
  { path: '/apis/apps/v1/namespaces/default/deployments/d/scale' },
  {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    call: {
      method: 'POST',
      body: { spec: { user: 'u', extra: { a: ['b', ''] }, resourceAttributes: { verb: 'get', resource: 'pods' } } },
    },
  },
];

async function make(admin: Endpoint, { path, object, status }: ProtobufObject): Promise<string> {
  const name = String((object['metadata'] as JsonObject)['name']);
  const made = await call(admin, path, { method: 'POST', body: object });
  if (made.status >= 300 && made.status !== 409) throw new Error(`${path}: ${made.text.slice(0, 500)}`);
  if (status !== undefined) {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const set = await call(admin, `${path}/${name}/status`, { method: 'PATCH', headers, body: { status } });
    if (set.status >= 300) throw new Error(`${path}/status: ${set.text.slice(0, 500)}`);
  }
  return `${path}/${name}`;
}

/** The same thing in both forms; asked again where it changed in between. */
async function bothForms(admin: Endpoint, path: string, options: Call = {}, accept = ''): Promise<JsonObject> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const inJson = { ...options, headers: { accept: `application/json${accept}` } };
    const json = await call(admin, path, inJson);
    const protobuf = await call(admin, path, { ...options, headers: { accept: PROTOBUF + accept } });
    if (protobuf.headers['content-type'] !== PROTOBUF) throw new Error(`${path}: ${protobuf.text.slice(0, 500)}`);
    if ((await call(admin, path, inJson)).text !== json.text) continue;
    return { path, json: json.json<JsonObject>(), protobuf: protobuf.body.toString('base64') };
  }
  throw new Error(`${path} never rests`);
}

async function watchForms(admin: Endpoint): Promise<JsonObject> {
  const path = '/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0&timeoutSeconds=1';
  const json = await call(admin, path);
  const protobuf = await call(admin, path, { headers: { accept: `${PROTOBUF};stream=watch` } });
  return {
    contentType: String(protobuf.headers['content-type']),
    events: json.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject),
    protobuf: protobuf.body.toString('base64'),
  };
}

async function record(admin: Endpoint): Promise<JsonObject> {
  const objects: JsonObject[] = [];
  const places: string[] = [];
  for (const each of PROTOBUF_OBJECTS) places.push(await make(admin, each));
  for (const place of places) objects.push(await bothForms(admin, place));
  for (const each of ANSWERS) objects.push(await bothForms(admin, each.path, each.call, each.accept));
  return { objects, watch: await watchForms(admin) };
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const flags = ['--disable-admission-plugins=ServiceAccount'];
  const { objects, watch } = await withKubeApiserver(dir, { version: 'v1.36.4', flags }, record);
  const lines = (objects as JsonObject[]).map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(OBJECTS, `{"from":"v1.36.4","objects":[\n${lines}\n],\n"watch":${JSON.stringify(watch)}}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
