import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckReport } from '../../../src/tools/inspect/check-report.js';
import { AGGREGATED_V2, type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call, type Endpoint, keepAliveAgent } from '../rig/http-client.js';
import { Load, type Outcome, summary } from '../rig/load.js';
import { straddleProgram } from '../rig/program.js';
import type { Scenario } from '../scenario.js';

/** From a change of the file to its effect. */
const EFFECT_MS_MAX = 1_000;
const COMMAND_MS_MAX = 30_000;
const PHASE_REQUESTS = 200;
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

export const passthrough: Scenario = {
  number: 49,
  name: 'straddle passthrough under load: no failed request at either switch, every byte of the local server while on',
  timeoutMs: 300_000,
  async run({ plane, namespace, defer }) {
    await plane.arrange(layoutOf('batch'));
    defer(() => order(plane, 'off'));
    const ns = await namespace();
    await eventually('A reroutes jobs', async () => (await call(plane.a.straddle.admin, JOBS)).status === 200);

    const loads = startLoads(plane, ns, defer);
    for (let turn = 0; turn < 2; turn++) {
      for (const wanted of ['on', 'off'] as const) {
        await grown(loads.jobs);
        const report = await order(plane, wanted);
        assert.deepEqual(
          [report.done, report.servers.filter(({ state }) => state !== 'none').map(({ state }) => state)],
          [true, [wanted, wanted, wanted]],
        );
        const since = performance.now();
        await grown(loads.jobs);
        assertEffect(loads.jobs.outcomes, since, wanted === 'on' ? 404 : 200);
        if (wanted === 'on') await isPlain(plane);
      }
    }
    const [reads, writes, jobs] = await Promise.all([loads.reads.stop(), loads.writes.stop(), loads.jobs.stop()]);
    assert.ok(
      reads.every(({ status }) => status === 200),
      `reads: ${summary(reads)}`,
    );
    assert.ok(
      writes.every(({ status }) => status === 201),
      `writes: ${summary(writes)}`,
    );
    assert.ok(
      jobs.every(({ status }) => status === 200 || status === 404),
      `jobs: ${summary(jobs)}`,
    );
    assert.equal((await call(plane.a.kube.admin, `/api/v1/namespaces/${ns}/configmaps`)).status, 200);
    await byFile(plane);
  },
};

function startLoads(plane: ControlPlane, ns: string, defer: (cleanup: () => unknown) => void) {
  const agent = keepAliveAgent(30);
  defer(() => agent.destroy());
  const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
  const { admin } = plane.a.straddle;
  const start = (ratePerSecond: number, send: (index: number) => ReturnType<typeof call>) => {
    const load = new Load({ ratePerSecond, send });
    defer(() => load.stop());
    return load;
  };
  const create = (index: number) => {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `written-${index}` } });
    return call(admin, configMaps, { method: 'POST', body, headers: { 'content-type': 'application/json' }, agent });
  };
  return {
    reads: start(50, () => call(admin, `/api/v1/namespaces/${ns}`, { agent })),
    writes: start(20, create),
    jobs: start(100, () => call(admin, JOBS, { agent })),
  };
}

interface Switched {
  readonly done: boolean;
  readonly servers: readonly { readonly server: string; readonly state: string }[];
}

async function order(plane: ControlPlane, wanted: 'on' | 'off'): Promise<Switched> {
  const { code, stdout, stderr } = await runBesideLoad(plane, 'passthrough', wanted, '--reason=trial', '-o', 'json');
  assert.equal(code, 0, `${stderr}${stdout}`);
  return JSON.parse(stdout) as Switched;
}

/** Runs a `straddle` command with the rights of the admin; this process goes on with the load meanwhile. */
function runBesideLoad({ kubeconfig }: ControlPlane, ...args: string[]) {
  const all = [...straddleProgram(), ...args, `--kubeconfig=${kubeconfig}`, '--context=straddle-a'];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, all, { timeout: COMMAND_MS_MAX }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}

/** Waits for many more answers, so that each state is seen under load. */
async function grown(load: Load): Promise<void> {
  const before = load.count();
  await eventually('the load goes on', () => load.count() >= before + PHASE_REQUESTS);
}

function assertEffect(outcomes: readonly Outcome[], sinceMs: number, status: number): void {
  const later = outcomes.filter(({ startedMs }) => startedMs > sinceMs);
  const wrong = later.filter((each) => each.status !== status);
  assert.ok(later.length > 0);
  // The command returns after the switch, so no request that begins later may see the other state.
  assert.deepEqual(wrong, [], `after the switch, ${status} is wanted: ${summary(wrong)}`);
}

/** Everything that Straddle would merge is that of the local server, and the state is visible. */
async function isPlain(plane: ControlPlane): Promise<void> {
  const { straddle, kube } = plane.a;
  for (const accept of [AGGREGATED_V2, 'application/json']) {
    for (const path of ['/apis', '/api', '/apis/batch/v1', JOBS, '/openapi/v3', '/version']) {
      await identical(straddle.admin, kube.admin, path, accept);
    }
  }
  assert.match((await call(straddle.admin, '/metrics')).text, /^straddle_passthrough 1$/m);
  const check = await runBesideLoad(plane, 'check', '-o', 'json');
  assert.equal(check.code, 1);
  const lines = (JSON.parse(check.stdout) as CheckReport).checks.filter((each) => each.check === 'protection');
  assert.equal(lines.filter(({ detail }) => detail.includes('protection is switched off since')).length, 3);
  assert.equal((await call(straddle.anonymous, '/straddle/passthrough')).status, 401);
  assert.equal((await call(straddle.alice, '/straddle/passthrough')).status, 403);
}

async function identical(straddle: Endpoint, kube: Endpoint, path: string, accept: string): Promise<void> {
  const headers = { accept };
  const [through, straight] = [await call(straddle, path, { headers }), await call(kube, path, { headers })];
  assert.equal(through.status, straight.status, path);
  assert.deepEqual(comparable(through.headers), comparable(straight.headers), path);
  assert.ok(through.body.equals(straight.body), `${path} (${accept}) is not byte-identical`);
}

/** Without the time, the identifier of each request, and fields of one connection. */
function comparable(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const left = new Set(['date', 'audit-id', 'connection', 'keep-alive', 'transfer-encoding']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}

/** The file switches A alone while its API server is down, and off again. */
async function byFile(plane: ControlPlane): Promise<void> {
  const { straddle, kube } = plane.a;
  const file = join(straddle.stateDir, 'passthrough');
  await kube.kill();
  await eventually('A reroutes what its server would serve', async () => (await list(straddle.admin)) === 200);
  writeFileSync(file, 'the API is down');
  const beganMs = performance.now();
  await eventually('only the local server is asked', async () => (await list(straddle.admin)) === 503);
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < EFFECT_MS_MAX, `the file took ${tookMs} ms`);
  rmSync(file);
  await eventually('A reroutes again', async () => (await list(straddle.admin)) === 200);
}

async function list(endpoint: Endpoint): Promise<number> {
  return (await call(endpoint, '/api/v1/namespaces')).status;
}
