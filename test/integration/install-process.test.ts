import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { firstRoutable } from '../../src/compose/config/addresses.js';
import { kubeadmOutput } from '../../src/tools/install/kubeadm-output.fixture.js';
import { FakeNode } from '../../src/tools/install/node.fixture.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** An address that belongs to no machine. */
const NOWHERE = '192.0.2.1';
const TEST_TIMEOUT_MS = 60_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A node on which no server ever becomes ready, so that each installation is rolled back at its timeout. */
async function deadNode(): Promise<FakeNode> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const host = firstRoutable(addresses, '0.0.0.0') ?? NOWHERE;
  const port = String(await freePort());
  return new FakeNode(kubeadmOutput('1.36').replaceAll('10.0.0.1', host).replaceAll('6443', port));
}

/** Starts an installation and resolves when it has written the manifest of the kube-apiserver. */
async function startInstall(node: FakeNode, timeout: string): Promise<ChildProcess> {
  const flags = ['--kubeadm', '--image=straddle:1', '--force', `--timeout=${timeout}`, `--root=${node.root}`];
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'install', ...flags], { cwd: ROOT });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('wrote /etc/kubernetes/manifests/kube-apiserver.yaml')) resolve();
    });
    child.once('exit', () => reject(new Error(`ended too early: ${out}`)));
  });
  return child;
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = await once(child, 'exit');
  return code;
}

describe('the process of straddle install', { timeout: TEST_TIMEOUT_MS }, () => {
  it('rolls back and fails although nobody reads its output any more', async () => {
    const node = await deadNode();
    const before = node.snapshot();
    const child = await startInstall(node, '3s');
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect(await exitCode(child)).toBe(1);
    expect(node.snapshot()).toEqual(before);
  });

  it('rolls back when its terminal hangs up', async () => {
    const node = await deadNode();
    const before = node.snapshot();
    const child = await startInstall(node, '5s');
    child.stdout?.destroy();
    child.kill('SIGHUP');
    expect(await exitCode(child)).toBe(1);
    expect(node.snapshot()).toEqual(before);
  });
});
