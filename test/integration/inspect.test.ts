import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/tools/inspect/check-report.js';
import type { DiffReport } from '../../src/tools/inspect/diff-report.js';
import type { StatusReport } from '../../src/tools/inspect/status-report.js';
import { type RunningControlPlane, startControlPlane } from '../../src/tools/plane/control-plane.js';
import { eventually } from './control-plane.js';
import { planeOptions } from './plane-options.js';
import { runCommand } from './run-command.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-inspect-'));
let plane: RunningControlPlane;

beforeAll(async () => {
  plane = await startControlPlane(planeOptions(dir));
}, 120_000);

afterAll(async () => {
  await plane?.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

const run = (...argv: string[]) => runCommand(dir, [...argv, `--kubeconfig=${plane.kubeconfig}`]);

async function report<T>(...argv: string[]): Promise<T> {
  const { out, err } = await run(...argv, '-o', 'json');
  if (out === '') throw new Error(err);
  return JSON.parse(out) as T;
}

const failed = ({ checks }: CheckReport) => checks.filter(({ verdict }) => verdict === 'FAIL');

describe('status, diff and check of a control plane of two versions', () => {
  it('check finds the control plane protected', async () => {
    const found = await eventually(
      'all to be well',
      () => report<CheckReport>('check'),
      (each) => each.verdict === 'ok',
      15_000,
    );
    expect(failed(found)).toEqual([]);
    expect(found.checks.filter(({ check }) => check === 'peer server-1')).toMatchObject([
      { server: 'server-2', verdict: 'ok' },
    ]);
    expect((await run('check')).code).toBe(0);
  });

  it('status shows both servers through either of them', async () => {
    for (const context of ['front', 'server-2']) {
      const { servers } = await report<StatusReport>('status', `--context=${context}`);
      expect(servers).toMatchObject([
        {
          name: 'server-1',
          kind: 'straddle apiserver',
          version: 'v1.35.8',
          health: 'ready',
          peers: [{ usable: true }],
        },
        {
          name: 'server-2',
          kind: 'straddle apiserver',
          version: 'v1.36.4',
          health: 'ready',
          peers: [{ usable: true }],
        },
      ]);
    }
  });

  it('diff shows resources of one server only, and that no client misses them', async () => {
    const { resources, clients, changes } = await report<DiffReport>('diff');
    const [row] = resources.filter(({ name }) => name === 'podgroups.v1alpha2.scheduling.k8s.io');
    expect(row?.servedBy).toMatchObject({ 'server-1': null, 'server-2': expect.arrayContaining(['list']) });
    expect(clients).toMatchObject([
      { server: 'server-1', missing: expect.arrayContaining([row!.name]), uncovered: [] },
      { server: 'server-2', missing: [], uncovered: [] },
    ]);
    expect(changes[0]?.added).toContain(row!.name);
  });

  it('status shows a stopped server with the reason, and check fails', async () => {
    process.kill(plane.servers[0]!.pid!, 'SIGKILL');
    await expect.poll(() => plane.servers[0]!.pid).toBeUndefined();
    const { servers } = await report<StatusReport>('status', '--context=server-2');
    expect(servers[0]).toMatchObject({ name: 'server-1', health: 'unreachable: connection refused' });
    const { code, out } = await run('check', '--context=server-2');
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL +server-1 +reachable +connection refused\n +→ Nobody listens at /);
  });
});
