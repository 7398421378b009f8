/** Captures the surfaces that come with Straddle from real kube-apiservers: `tsx test/real/capture-surface.ts [version…]`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { convertSurface, type ServerDocuments, writeSurface } from '../../src/apiserver/surfaces/convert-surface.js';
import { readServer } from '../../src/apiserver/surfaces/read-server.js';
import type { Json } from '../../src/kube/json.js';
import { ensureBinaries } from './rig/binaries.js';
import { call, type Endpoint } from './rig/http-client.js';
import type { KubeSettings } from './rig/kube-apiserver.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

/** Workload-aware scheduling: `workloads` in 1.35, `podgroups` beside them in 1.36. */
const WORKLOADS = ['--feature-gates=GenericWorkload=true'];
/** `everything` switches on what only a feature gate does; it is marked as off by default. */
const SOURCES: Readonly<Record<string, KubeSettings & { readonly everything?: readonly string[] }>> = {
  // The oldest is what the next newer server says when it plays it: fields that came later are not told apart.
  '1.34': { version: 'v1.35.8', flags: ['--emulated-version=1.34'] },
  '1.35': { version: 'v1.35.8', flags: [], everything: WORKLOADS },
  '1.36': { version: 'v1.36.4', flags: [], everything: WORKLOADS },
};
const ALL_VERSIONS = '--runtime-config=api/all=true';
const DATA_DIR = fileURLToPath(new URL('../../src/apiserver/surfaces/data/', import.meta.url));

async function documents(endpoint: Endpoint, withOpenApi: boolean): Promise<ServerDocuments> {
  const get = async (path: string, accept: string): Promise<Json> => {
    const answer = await call(endpoint, path, { headers: { accept }, timeoutMs: 60_000 });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.json<Json>();
  };
  return readServer({ get, withOpenApi });
}

async function capture(
  version: string,
  { everything: more = [], ...settings }: (typeof SOURCES)[string],
): Promise<void> {
  const read = async (flags: readonly string[], withOpenApi: boolean): Promise<ServerDocuments> => {
    const dir = mkdtempSync(join(tmpdir(), 'straddle-capture-'));
    try {
      return await withKubeApiserver(dir, { ...settings, flags: [...settings.flags, ...flags] }, (endpoint) =>
        documents(endpoint, withOpenApi),
      );
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };
  const byDefault = await read([], false);
  const everything = await read([ALL_VERSIONS, ...more], true);
  if (everything.version !== version) throw new Error(`wanted ${version}, the server says ${everything.version}`);
  const text = writeSurface(convertSurface(everything, byDefault));
  writeFileSync(join(DATA_DIR, `${version}.json`), text);
  process.stdout.write(`${version}: ${text.length} bytes\n`);
}

try {
  await ensureBinaries((line) => void process.stdout.write(`${line}\n`));
  const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SOURCES);
  for (const version of wanted) {
    const settings = SOURCES[version];
    if (settings === undefined)
      throw new Error(`unknown version ${version}; known are ${Object.keys(SOURCES).join(', ')}`);
    await capture(version, settings);
  }
} finally {
  await stopEverything();
}
