import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, makeCertificates } from '../integration/certificates.js';
import { proxyFlags } from '../integration/control-plane.js';
import { COMMON, FakeApiServer } from '../integration/fake-apiserver.js';
import { ask } from '../integration/https-client.js';
import { SharedStorage } from '../integration/shared-storage.js';
import type { Target } from './hostile-clients.js';
import { Program } from './program.js';

/** Something to attack, with certificates of its own. */
export interface World {
  readonly certificates: Certificates;
  readonly program: Program;
  readonly target: Target;
  close(): Promise<void>;
}

export interface ProxyWorld extends World {
  /** Another Straddle, which reads the attacked one's discovery through the attacked port. */
  readonly observer: Program;
}

/** The bounds that a peer is held to in production. */
const PEER_TIMES = { 'surface-refresh': '2s', 'peer-gone-after': '10s' };

export async function proxyWorld(flags: Readonly<Record<string, string>> = {}): Promise<ProxyWorld> {
  const certificates = makeCertificates();
  const storage = new SharedStorage();
  const apis = [new FakeApiServer(certificates, storage, COMMON), new FakeApiServer(certificates, storage, COMMON)];
  await Promise.all(apis.map((api) => api.start()));
  const program = new Program('proxy', proxyFlags(certificates, 'a', apis[0]!, { ...PEER_TIMES, ...flags }));
  const port = await program.port();
  const peer = `https://127.0.0.1:${port}`;
  const observer = new Program('proxy', proxyFlags(certificates, 'b', apis[1]!, { ...PEER_TIMES, peer }));
  await observer.port();
  return {
    certificates,
    program,
    observer,
    target: { port, ca: certificates.ca.pem },
    async close() {
      await Promise.all([program.stop(), observer.stop()]);
      await Promise.all(apis.map((api) => api.stop()));
      certificates.remove();
    },
  };
}

export async function embeddedWorld(flags: Readonly<Record<string, string>> = {}): Promise<World> {
  const certificates = makeCertificates();
  const dataDir = mkdtempSync(join(tmpdir(), 'straddle-attack-'));
  const { file } = certificates;
  const program = new Program('apiserver', {
    'data-dir': dataDir,
    'server-name': 'a',
    'bind-address': '127.0.0.1',
    'secure-port': '0',
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('ca.crt'),
    ...flags,
  });
  const target = { port: await program.port(), ca: certificates.ca.pem };
  const close = async (): Promise<void> => {
    await program.stop();
    rmSync(dataDir, { recursive: true, force: true });
    certificates.remove();
  };
  return { certificates, program, target, close };
}

/** Makes objects of about `bytes` each, as an administrator. */
export async function fill({ certificates, target }: World, count: number, bytes: number): Promise<void> {
  const as = certificates.user('admin', 'system:masters');
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ metadata: { name: `large-${i}` }, data: { value: 'x'.repeat(bytes) } });
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await ask(target, CONFIG_MAPS, { method: 'POST', headers, body, as });
    if (status !== 201) throw new Error(`an object could not be made: ${status} ${text}`);
  }
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
