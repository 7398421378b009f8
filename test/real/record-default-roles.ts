/**
 * Records the roles and bindings that a kube-apiserver creates for itself, without what it adds to every object, into the
 * data that src/apiserver/authorization reads: `tsx test/real/record-default-roles.ts`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../src/kube/json.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const VERSION = 'v1.36.4';
const FILE = fileURLToPath(new URL('../../src/apiserver/authorization/data/default-roles.json', import.meta.url));
const RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;
const READY = '/readyz/poststarthook/rbac/bootstrap-roles';
/** Told by the reader: the same on every object. */
const BOOTSTRAPPING_LABEL = 'kubernetes.io/bootstrapping';

async function bootstrapped(admin: Endpoint): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if ((await call(admin, READY)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${READY} never succeeds`);
}

function compact(object: JsonObject): JsonObject {
  const metadata = object.metadata as JsonObject;
  const labels = { ...(metadata.labels as JsonObject) };
  delete labels[BOOTSTRAPPING_LABEL];
  const { rules, aggregationRule, subjects, roleRef } = object;
  const parts: Record<string, Json | undefined> = {
    namespace: metadata.namespace,
    name: metadata.name,
    labels: Object.keys(labels).length > 0 ? labels : undefined,
    aggregationRule,
    rules: rules ?? undefined,
    roleRef,
    subjects,
  };
  return JSON.parse(JSON.stringify(parts)) as JsonObject;
}

async function record(admin: Endpoint): Promise<Record<string, JsonObject[]>> {
  await bootstrapped(admin);
  const recorded: Record<string, JsonObject[]> = {};
  for (const resource of RESOURCES) {
    const answer = await call(admin, `/apis/rbac.authorization.k8s.io/v1/${resource}`);
    recorded[resource] = answer.json<{ items: JsonObject[] }>().items.map(compact);
  }
  return recorded;
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
try {
  const recorded = await withKubeApiserver(dir, { version: VERSION, flags: [] }, record);
  const lists = RESOURCES.map(
    (resource) => `"${resource}":[\n${recorded[resource]!.map((each) => JSON.stringify(each)).join(',\n')}\n]`,
  );
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `{"from":"${VERSION}",\n${lists.join(',\n')}}\n`);
} finally {
  await stopEverything();
  rmSync(dir, { recursive: true, force: true });
}
