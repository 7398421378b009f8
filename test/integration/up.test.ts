import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlaneOptions, type RunningControlPlane, startControlPlane } from '../../src/compose.js';
import { createLogger } from '../../src/observe/logger.js';
import { freePorts } from './free-ports.js';

interface Kubeconfig {
  readonly clusters: readonly { name: string; cluster: { server: string; 'certificate-authority-data': string } }[];
  readonly users: readonly { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

const dir = mkdtempSync(join(tmpdir(), 'straddle-up-'));
const PODGROUPS = '/apis/scheduling.k8s.io/v1alpha2/podgroups';
let options: ControlPlaneOptions;
let plane: RunningControlPlane;
let agent: Agent;
let config: Kubeconfig;

beforeAll(async () => {
  options = {
    dataDir: dir,
    versions: ['1.35', '1.36'],
    port: await freePorts(3),
    proxy: true,
    etcdServers: [],
    runtimeConfig: ['scheduling.k8s.io/v1alpha2=true'],
    self: ['--import', 'tsx', 'src/cli/main.ts'],
    machine: { hostname: 'test', addresses: ['127.0.0.1'], readFile: (path) => readFileSync(path, 'utf8') },
    logger: createLogger({
      level: 'error',
      format: 'text',
      write: (text) => process.stderr.write(text),
      nowMs: Date.now,
    }),
    progress: () => {},
  };
  plane = await startControlPlane(options);
  config = load(readFileSync(plane.kubeconfig, 'utf8')) as Kubeconfig;
  const pem = (base64: string): Buffer => Buffer.from(base64, 'base64');
  const { user } = config.users[0]!;
  agent = new Agent({
    connect: {
      ca: pem(config.clusters[0]!.cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    },
  });
}, 120_000);

afterAll(async () => {
  await agent?.close();
  await plane?.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

async function get(
  context: string,
  path: string,
): Promise<{ status: number; body: { items?: unknown[]; message?: string } }> {
  const { server } = config.clusters.find(({ name }) => name === context)!.cluster;
  const answer = await request(server + path, { dispatcher: agent, headers: { accept: 'application/json' } });
  return { status: answer.statusCode, body: (await answer.body.json()) as { items?: unknown[] } };
}

describe('a control plane from one command', () => {
  it('has a context for the front door and for each server, and keeps its keys to itself', () => {
    expect(config.clusters.map(({ name }) => name)).toEqual(['front', 'server-1', 'server-2']);
    expect(plane.servers.map(({ version }) => version)).toEqual(['1.35', '1.36']);
    expect(statSync(plane.kubeconfig).mode & 0o077).toBe(0);
  });

  it('serves through every door what only one server has', async () => {
    await expect.poll(async () => (await get('server-1', PODGROUPS)).status, { timeout: 15_000 }).toBe(200);
    for (const context of ['front', 'server-1', 'server-2', 'front']) {
      expect((await get(context, PODGROUPS)).status).toBe(200);
    }
  });

  it('refuses a port that is taken, in one sentence, and starts nothing', async () => {
    const taken = { ...options, dataDir: join(dir, 'second'), port: Number(plane.front.split(':')[1]) };
    await expect(startControlPlane(taken)).rejects.toThrow(/^Port \d+ of 127\.0\.0\.1 is in use .* --port\.$/);
  });

  it('goes on behind the front door when a server is gone, and says which', async () => {
    const { pid } = plane.servers[0]!;
    process.kill(pid, 'SIGKILL');
    expect(await plane.failed).toContain('server-1 ended: SIGKILL');
    for (let count = 0; count < 6; count++) expect((await get('front', '/api/v1/namespaces')).status).toBe(200);
  });
});
