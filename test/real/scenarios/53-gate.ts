import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GateReason, ReasonId } from '../../../src/tools/inspect/gate/gate-reason.js';
import type { GateReport } from '../../../src/tools/inspect/gate/gate-report.js';
import { chosenServers } from '../rig/chosen-servers.js';
import { type ControlPlane, type Layout, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import { minorOf } from '../rig/pinned-versions.js';
import { straddleProgram } from '../rig/program.js';
import { newerSettings, olderSettings } from '../rig/skew.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { createNewer, newerApi } from './newer-api.js';

/** A server that is gone is known to be so after some seconds; leases of a Straddle end after 40. */
const SETTLE_MS = 60_000;
const COMMAND_MS_MAX = 60_000;
const MIGRATIONS = { group: 'storagemigration.k8s.io', resource: 'storageversionmigrations' };

export const gate: Scenario = {
  number: 53,
  name: 'straddle gate: open when all is well, closed with its reason otherwise, and rollback with objects that only B and C serve',
  timeoutMs: 420_000,
  async run(context) {
    const { plane } = context;
    await plane.arrange(layoutOf('default'));
    await isOpen(plane);
    await rollback(context);
    await tooFewRights(plane);
    await passthroughOn(plane);
    await migrationRuns(context);
    await oneServerHasAnApi(plane);
    await straddleMissing(plane);
    await serverKilled(plane);
  },
};

async function isOpen(plane: ControlPlane): Promise<void> {
  const { code, stdout } = await until(plane, [], ({ report }) => assert.equal(report.verdict, 'open'));
  assert.equal(code, 0, stdout);
  const plain = await run(plane, ['gate', '--server=node-b']);
  assert.deepEqual([plain.code, plain.stdout], [0, 'open\n'], plain.stderr);
  // The certificates of the rig are valid for a day, which is worth a note.
  assert.match(plain.stderr, /^(Note: node-a, node-b, node-c: .*front-proxy-client.*\n)*$/);
}

/** An object of the API that A lacks stands in the way of a rollback, until it is deleted. */
async function rollback({ plane, namespace }: ScenarioContext): Promise<void> {
  const { group, version, resource } = newerApi();
  const name = `${resource}.${version}.${group}`;
  const back = ['--for=rollback', '--server=node-c'];
  const clear = await ask(plane, back);
  assert.equal(clear.report.to, minorOf(chosenServers().a));
  assert.deepEqual(
    idsOf(clear.report).filter((id) => id !== 'stored-objects'),
    [],
  );
  // Scenarios before may have left some.
  const before = storedCount(clear.report, name);
  const ns = await namespace();
  const path = await createNewer(plane.b.kube.admin, ns, 'kept');
  await createNewer(plane.b.kube.admin, ns, 'kept-too');
  for (const context of ['straddle-a', 'raw-c']) {
    const { code, report } = await ask(plane, back, context);
    assert.equal(code, 1);
    const reason = report.reasons.find(({ resources }) => resources.includes(name));
    assert.equal(reason?.id, 'stored-objects');
    assert.equal(storedCount(report, name), before + 2, reason.detail);
    if (before === 0) assert.match(reason.detail, new RegExp(`^2 objects of ${name}, which .*, such as ${ns}/kept$`));
  }
  // Without a controller-manager nobody takes the finalizer of a PodGroup off.
  for (const each of [path, `${path}-too`]) {
    const headers = { 'content-type': 'application/merge-patch+json' };
    await call(plane.b.kube.admin, each, { method: 'PATCH', headers, body: '{"metadata":{"finalizers":null}}' });
    const deleted = await call(plane.b.kube.admin, each, { method: 'DELETE' });
    assert.equal(deleted.status, 200, deleted.text);
  }
  const after = await ask(plane, back);
  assert.equal(storedCount(after.report, name), before);
}

/** The number of objects of a resource that stand in the way of a rollback. */
function storedCount({ reasons }: GateReport, resource: string): number {
  const reason = reasons.find(({ id, resources }) => id === 'stored-objects' && resources.includes(resource));
  return reason === undefined ? 0 : Number(/^\d+/.exec(reason.detail)?.[0]);
}

/** A user who may read nothing but discovery is told which rights it takes. */
async function tooFewRights(plane: ControlPlane): Promise<void> {
  const config = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as { contexts: { context: { user: string } }[] };
  for (const { context } of config.contexts) context.user = 'alice';
  const file = join(plane.dir, 'kubeconfig-of-alice');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const addresses = plane.all.map(({ straddle }) => `--address=${new URL(straddle.url).host}`);
  const { code, report } = await ask(plane, [`--kubeconfig=${file}`, '--context=straddle-a', ...addresses]);
  assert.equal(code, 2, JSON.stringify(report));
  const steps = report.reasons.map(({ next }) => next).join('\n');
  assert.match(steps, /with the right to list leases\.coordination\.k8s\.io in kube-system\./);
  assert.match(steps, /with the right to get the non-resource URL \/metrics\./);
}

async function passthroughOn(plane: ControlPlane): Promise<void> {
  const server = '--server=node-b';
  const on = await run(plane, ['passthrough', 'on', server]);
  assert.equal(on.code, 0, on.stderr);
  try {
    const { code, report } = await ask(plane);
    assert.equal(code, 1);
    assert.deepEqual(servers(report, 'passthrough'), ['node-b']);
  } finally {
    await run(plane, ['passthrough', 'off', server]);
  }
  await isOpen(plane);
}

/** Nobody runs migrations here, so the object stays as it is made: not begun. */
async function migrationRuns({ plane, defer }: ScenarioContext): Promise<void> {
  const { admin } = plane.b.kube;
  const groups = await call(admin, `/apis/${MIGRATIONS.group}`);
  if (groups.status === 404) return;
  const { preferredVersion } = groups.json<{ preferredVersion: { groupVersion: string } }>();
  const path = `/apis/${preferredVersion.groupVersion}/${MIGRATIONS.resource}`;
  const made = await call(admin, path, {
    method: 'POST',
    body: {
      apiVersion: preferredVersion.groupVersion,
      kind: 'StorageVersionMigration',
      metadata: { name: 'gate' },
      spec: { resource: { group: 'apps', resource: 'deployments' } },
    },
  });
  assert.equal(made.status, 201, made.text);
  const remove = () => call(admin, `${path}/gate`, { method: 'DELETE' });
  defer(remove);
  const { code, report } = await ask(plane);
  assert.equal(code, 1);
  assert.match(
    report.reasons.find(({ id }) => id === 'migration')?.detail ?? '',
    /in progress: gate \(deployments\.apps\)$/,
  );
  assert.equal((await ask(plane, ['--allow=migration'])).code, 0);
  // It waits, and goes on by itself as soon as the object is gone.
  const waited = await run(plane, ['gate', '--wait', '--timeout=40s'], { onFirstError: () => void remove() });
  assert.deepEqual([waited.code, waited.stdout], [0, 'open\n'], waited.stderr);
  assert.match(waited.stderr, /^waiting, closed: migration\n/);
}

async function oneServerHasAnApi(plane: ControlPlane): Promise<void> {
  const { a, b, c } = chosenServers();
  const { straddle } = layoutOf('default');
  const layout: Layout = { kube: { a: olderSettings(a), b: newerSettings(b), c: { version: c, flags: [] } }, straddle };
  await plane.arrange(layout);
  const { group, version, resource } = newerApi();
  const { report } = await until(plane, ['--server=node-b'], (found) =>
    assert.deepEqual(idsOf(found.report), ['sole-server']),
  );
  assert.ok(report.reasons[0]!.resources.includes(`${resource}.${version}.${group}`), JSON.stringify(report));
  assert.equal((await ask(plane, ['--server=node-a'])).code, 0);
  assert.deepEqual(servers((await ask(plane)).report, 'sole-server'), ['node-b']);
}

async function straddleMissing(plane: ControlPlane): Promise<void> {
  const whole = layoutOf('default');
  await plane.arrange({ ...whole, straddle: { ...whole.straddle, c: undefined } });
  const { code, report } = await until(plane, [], ({ report: found }) =>
    assert.deepEqual(servers(found, 'unprotected'), ['node-c']),
  );
  assert.equal(code, 1, JSON.stringify(report));
  await plane.arrange(whole);
  await isOpen(plane);
}

/** First it is unreachable, then what only it served is held; when it is back, the gate opens. */
async function serverKilled(plane: ControlPlane): Promise<void> {
  await Promise.all([plane.c.kube.kill(), plane.c.straddle.kill()]);
  const first = await ask(plane);
  assert.deepEqual(servers(first.report, 'unreachable'), ['node-c']);
  const { report } = await until(plane, [], ({ report: found }) =>
    assert.deepEqual(servers(found, 'stale-surface'), ['node-c']),
  );
  const stale = report.reasons.find(({ id }) => id === 'stale-surface');
  assert.match(stale?.next ?? '', /straddle forget node-c/);
  await plane.arrange(layoutOf('default'));
  await isOpen(plane);
}

interface Asked {
  readonly report: GateReport;
  readonly code: number;
  readonly stdout: string;
}

const idsOf = ({ reasons }: GateReport): ReasonId[] => [...new Set(reasons.map(({ id }: GateReason) => id))];

function servers({ reasons }: GateReport, id: ReasonId): string[] {
  return [...new Set(reasons.filter((each) => each.id === id).flatMap((each) => each.servers))];
}

async function ask(plane: ControlPlane, args: readonly string[] = [], context = 'straddle-a'): Promise<Asked> {
  const { code, stdout, stderr } = await run(plane, ['gate', ...args, '-o', 'json'], { context });
  assert.notEqual(stdout, '', stderr);
  return { report: JSON.parse(stdout) as GateReport, code, stdout };
}

async function until(plane: ControlPlane, args: readonly string[], judge: (found: Asked) => void): Promise<Asked> {
  return eventually(
    `straddle gate ${args.join(' ')} says so`,
    async () => {
      const found = await ask(plane, args);
      try {
        judge(found);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${found.stdout}`);
      }
      return found;
    },
    { timeoutMs: SETTLE_MS, intervalMs: 1_000 },
  );
}

interface RunOptions {
  readonly context?: string;
  /** Called when there is something on standard error. */
  readonly onFirstError?: () => void;
}

/** Runs a command with the rights of the admin, unless it names another kubeconfig. */
function run(
  { kubeconfig }: ControlPlane,
  args: readonly string[],
  { context = 'straddle-a', onFirstError = () => {} }: RunOptions = {},
) {
  const access = args.some((each) => each.startsWith('--kubeconfig='))
    ? []
    : [`--kubeconfig=${kubeconfig}`, `--context=${context}`];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const all = [...straddleProgram(), ...args, ...access];
    const child = execFile(process.execPath, all, { timeout: COMMAND_MS_MAX }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stderr?.once('data', onFirstError);
  });
}
