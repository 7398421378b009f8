import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, makeCertificates } from '../integration/certificates.js';
import { proxyFlags } from '../integration/control-plane.js';
import { ask } from '../integration/https-client.js';
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

/** Two Straddles before one API server, all of them processes of their own. */
export async function proxyWorld(flags: Readonly<Record<string, string>> = {}): Promise<ProxyWorld> {
  const api = await embeddedWorld();
  const { certificates } = api;
  await letStraddleReadEverything(api);
  const program = new Program('proxy', proxyFlags(certificates, 'a', api.target, { ...PEER_TIMES, ...flags }));
  const port = await program.port();
  const peer = `https://127.0.0.1:${port}`;
  const observer = new Program('proxy', proxyFlags(certificates, 'b', api.target, { ...PEER_TIMES, peer }));
  await observer.port();
  return {
    certificates,
    program,
    observer,
    target: { port, ca: certificates.ca.pem },
    async close() {
      await Promise.all([program.stop(), observer.stop()]);
      await api.close();
    },
  };
}

export async function embeddedWorld(flags: Readonly<Record<string, string>> = {}): Promise<World> {
  const certificates = makeCertificates();
  const dataDir = mkdtempSync(join(tmpdir(), 'straddle-attack-'));
  const { file } = certificates;
  const program = new Program('apiserver', {
    'data-dir': dataDir,
    'server-name': 'api',
    'bind-address': '127.0.0.1',
    'secure-port': '0',
    controllers: '',
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('ca.crt'),
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
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

async function letStraddleReadEverything(world: World): Promise<void> {
  await create(world, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'straddle' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:straddle' }],
  });
}

/** Makes objects of about `bytes` each. */
export async function fill(world: World, count: number, bytes: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await create(world, CONFIG_MAPS, { metadata: { name: `large-${i}` }, data: { value: 'x'.repeat(bytes) } });
  }
}

async function create({ certificates, target }: World, path: string, object: object): Promise<void> {
  const as = certificates.user('admin', 'system:masters');
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await ask(target, path, { method: 'POST', headers, body: JSON.stringify(object), as });
  if (status !== 201) throw new Error(`an object could not be made: ${status} ${text}`);
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
