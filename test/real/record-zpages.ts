/**
 * Records /statusz and /flagz of real kube-apiservers, into the fixture that the tests of src/tools/inspect replay:
 * `tsx test/real/record-zpages.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FLAGZ_ACCEPT, STATUSZ_ACCEPT } from '../../src/tools/inspect/zpages.js';
import { call, type Endpoint } from './rig/http-client.js';
import type { KubeSettings } from './rig/kube-apiserver.js';
import { withKubeApiserver } from './rig/lone-apiserver.js';
import { stopEverything } from './rig/process.js';

const FIXTURE = fileURLToPath(new URL('../../src/tools/inspect/zpages.recorded.json', import.meta.url));
const GATES = '--feature-gates=ComponentStatusz=true,ComponentFlagz=true';

const SERVERS: Readonly<Record<string, KubeSettings>> = {
  '1.35, pages off': { version: 'v1.35.8', flags: [] },
  '1.35, pages on': { version: 'v1.35.8', flags: [GATES] },
  '1.36': { version: 'v1.36.4', flags: [] },
  '1.36, native': { version: 'v1.36.4', flags: [], native: true },
  '1.36, gate off': { version: 'v1.36.4', flags: ['--feature-gates=UnknownVersionInteroperabilityProxy=false'] },
  '1.37': { version: 'v1.37.1', flags: ['--emulated-version=1.36'] },
  '1.37, native': { version: 'v1.37.1', flags: [], native: true },
};

interface RecordedPage {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

async function page(who: Endpoint, path: string, accept: string, dir: string): Promise<RecordedPage> {
  const answer = await call(who, path, { headers: { accept } });
  const text = answer.text.replaceAll(dir, '/var/lib/rig');
  return { status: answer.status, contentType: answer.headers['content-type'] ?? '', text };
}

const recorded: Record<string, Record<string, RecordedPage>> = {};
for (const [name, settings] of Object.entries(SERVERS)) {
  const dir = mkdtempSync(join(tmpdir(), 'record-zpages-'));
  try {
    await withKubeApiserver(dir, settings, async (admin, { options }) => {
      const alice = { ...admin, clientCert: options.pki.users.alice };
      recorded[name] = {
        statusz: await page(admin, '/statusz', STATUSZ_ACCEPT, dir),
        flagz: await page(admin, '/flagz', FLAGZ_ACCEPT, dir),
        statuszText: await page(admin, '/statusz', 'text/plain', dir),
        flagzText: await page(admin, '/flagz', 'text/plain', dir),
        statuszForbidden: await page(alice, '/statusz', STATUSZ_ACCEPT, dir),
      };
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
await stopEverything();
writeFileSync(FIXTURE, `${JSON.stringify(recorded, null, 1)}\n`);
console.log(`${Object.keys(recorded).length} servers recorded`);
