import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { convertSurface, type ServerDocuments, writeSurface } from '../../src/apiserver/surfaces/convert-surface.js';
import { readServer } from '../../src/apiserver/surfaces/read-server.js';
import { SHIPPED_SURFACES } from '../../src/apiserver/surfaces/shipped-versions.js';
import type { Json } from '../../src/kube/json.js';
import { call, type Endpoint } from './rig/http-client.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { type KubeVersion, minorOf } from './rig/pinned-versions.js';

const ALL_VERSIONS = '--runtime-config=api/all=true';
/** Gates without which a resource is not served even with all versions on. Such a resource is marked as off by default. */
const GATES: Readonly<Record<string, readonly string[]>> = {
  '1.33': ['ClusterTrustBundle', 'StorageVersionMigrator'],
  '1.34': ['ClusterTrustBundle', 'PodCertificateRequest', 'StorageVersionMigrator'],
  '1.35': ['GenericWorkload'],
  '1.36': ['GenericWorkload'],
  '1.37': ['CompositePodGroup', 'EvictionRequestAPI', 'GenericWorkload', 'TopologyAwareWorkloadScheduling'],
};

/** Flags with which a kube-apiserver of that release serves every resource that it knows. */
export function flagsForEverything(release: KubeVersion): string[] {
  return [ALL_VERSIONS, ...(GATES[minorOf(release)] ?? []).map((name) => `--feature-gates=${name}=true`)];
}

/** Captures the surface of a real kube-apiserver of that release into the file that ships with Straddle; returns its size. */
export async function captureShippedSurface(release: KubeVersion): Promise<number> {
  const version = minorOf(release);
  const byDefault = await read(release, [], false);
  const everything = await read(release, flagsForEverything(release), true);
  if (everything.version !== version || everything.gitVersion !== release) {
    throw new Error(`wanted ${release}, the server says ${everything.gitVersion} (${everything.version})`);
  }
  const text = writeSurface(convertSurface(everything, byDefault));
  writeFileSync(fileURLToPath(new URL(`${version}.json`, SHIPPED_SURFACES)), text);
  return Buffer.byteLength(text);
}

async function read(version: KubeVersion, flags: readonly string[], withOpenApi: boolean): Promise<ServerDocuments> {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-capture-'));
  try {
    return await withKubeApiserver(dir, { version, flags }, (endpoint) => documents(endpoint, withOpenApi));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function documents(endpoint: Endpoint, withOpenApi: boolean): Promise<ServerDocuments> {
  const get = async (path: string, accept: string): Promise<Json> => {
    const answer = await call(endpoint, path, { headers: { accept }, timeoutMs: 60_000 });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json<Json>();
  };
  return readServer({ get, withOpenApi });
}
