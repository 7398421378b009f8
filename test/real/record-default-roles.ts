/**
 * Records the roles and bindings that kube-apiservers create for themselves, without what they add to every object, into the
 * data that src/apiserver/authorization reads: `tsx test/real/record-default-roles.ts` for all versions, `… 1.38` for one that
 * was added.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import {
  DEFAULT_RBAC_RESOURCES,
  DEFAULT_ROLES_FILE,
  type DefaultEntries,
  type DefaultRolesFile,
  defaultEntries,
  type EntryDifferences,
  entryKey,
  readDefaultRoles,
} from '../../src/apiserver/authorization/default-roles-file.js';
import { type Json, type JsonObject, jsonEqual } from '../../src/kube/json.js';
import { ensureBinaries, serverBinaries } from './rig/binaries.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { type KubeVersion, minorNumber, minorOf, pinnedVersions } from './rig/pinned-versions.js';
import { stopEverything } from './rig/process.js';

/** The version that is stored whole. */
const BASE = '1.36';
const READY = '/readyz/poststarthook/rbac/bootstrap-roles';
/** Told by the reader: the same on every object. */
const BOOTSTRAPPING_LABEL = 'kubernetes.io/bootstrapping';

interface Recorded {
  readonly from: string;
  readonly entries: DefaultEntries;
}

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

async function record(admin: Endpoint): Promise<DefaultEntries> {
  await bootstrapped(admin);
  const read = async (resource: string): Promise<JsonObject[]> => {
    const answer = await call(admin, `/apis/rbac.authorization.k8s.io/v1/${resource}`);
    return answer.json<{ items: JsonObject[] }>().items.map(compact);
  };
  return {
    clusterroles: await read('clusterroles'),
    clusterrolebindings: await read('clusterrolebindings'),
    roles: await read('roles'),
    rolebindings: await read('rolebindings'),
  };
}

async function recordFrom(release: KubeVersion): Promise<Recorded> {
  await ensureBinaries((line) => process.stdout.write(`${line}\n`), serverBinaries(release));
  const dir = mkdtempSync(join(tmpdir(), 'straddle-record-'));
  try {
    return { from: release, entries: await withKubeApiserver(dir, { version: release, flags: [] }, record) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function differences({ entries: base }: Recorded, { from, entries }: Recorded): EntryDifferences {
  const present: Record<string, JsonObject[]> = {};
  const absent: Record<string, string[]> = {};
  for (const resource of DEFAULT_RBAC_RESOURCES) {
    const before = new Map(base[resource].map((each) => [entryKey(each), each]));
    const now = new Set(entries[resource].map(entryKey));
    const changed = entries[resource].filter((each) => !jsonEqual(each, before.get(entryKey(each))));
    const gone = [...before.keys()].filter((key) => !now.has(key));
    if (changed.length > 0) present[resource] = changed;
    if (gone.length > 0) absent[resource] = gone;
  }
  return { from, present, absent };
}

/** One line for each entry: a difference of Git shows it. */
function lists(byResource: Readonly<Record<string, readonly unknown[]>>): string {
  return Object.entries(byResource)
    .map(([name, items]) => `"${name}":[\n${items.map((each) => JSON.stringify(each)).join(',\n')}\n]`)
    .join(',\n');
}

function write(recorded: ReadonlyMap<string, Recorded>): void {
  const base = recorded.get(BASE)!;
  const others = [...recorded].filter(([minor]) => minor !== BASE);
  const versions = others
    .sort(([left], [right]) => Number(left.split('.')[1]) - Number(right.split('.')[1]))
    .map(([minor, each]) => {
      const { from, present, absent } = differences(base, each);
      return `"${minor}":{"from":"${from}","present":{${lists(present)}},"absent":${JSON.stringify(absent)}}`;
    });
  const whole = Object.fromEntries(DEFAULT_RBAC_RESOURCES.map((resource) => [resource, base.entries[resource]]));
  const text = `{"from":"${base.from}",\n${lists(whole)},\n"versions":{\n${versions.join(',\n')}\n}}\n`;
  writeFileSync(fileURLToPath(DEFAULT_ROLES_FILE), text);
}

function byKey(entries: DefaultEntries): unknown {
  return DEFAULT_RBAC_RESOURCES.map((resource) => new Map(entries[resource].map((each) => [entryKey(each), each])));
}

/** What the file held, by version, so that a new base changes no other version. */
function recordedBefore(file: DefaultRolesFile): Map<string, Recorded> {
  const releases = [file.from, ...Object.values(file.versions).map(({ from }) => from)] as KubeVersion[];
  return new Map(
    releases.map((from) => [minorOf(from), { from, entries: defaultEntries(file, minorNumber(from)) }] as const),
  );
}

async function main(wanted: readonly string[]): Promise<void> {
  const pinned = pinnedVersions();
  const recorded = recordedBefore(readDefaultRoles());
  for (const minor of wanted.length > 0 ? wanted : pinned.keys()) {
    const release = pinned.get(minor);
    if (release === undefined) throw new Error(`${minor} is not one of ${[...pinned.keys()].join(', ')}`);
    recorded.set(minor, await recordFrom(release));
    process.stdout.write(`recorded ${release}\n`);
  }
  write(recorded);
  const file = readDefaultRoles();
  for (const { from, entries } of recorded.values()) {
    const read = defaultEntries(file, minorNumber(from as KubeVersion));
    if (!isDeepStrictEqual(byKey(read), byKey(entries))) throw new Error(`${from} is not read as it was recorded`);
  }
}

try {
  await main(process.argv.slice(2));
} finally {
  await stopEverything();
}
