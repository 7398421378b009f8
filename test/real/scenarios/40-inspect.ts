import assert from 'node:assert/strict';
import type { CheckReport } from '../../../src/tools/inspect/check-report.js';
import type { DiffReport } from '../../../src/tools/inspect/diff-report.js';
import type { StatusReport } from '../../../src/tools/inspect/status-report.js';
import { type ControlPlane, type Layout, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { NEWER } from '../rig/skew.js';
import { runStraddle } from '../rig/straddle.js';
import type { Scenario } from '../scenario.js';

const NOBODY = { a: undefined, b: undefined, c: undefined };
const SAME = { version: 'v1.36.4', flags: [] } as const;

/** kube-apiserver's own proxy on all three; only B has the newer API. */
const NATIVE: Layout = {
  kube: { a: { ...SAME, native: true }, b: { ...NEWER, native: true }, c: { ...SAME, native: true } },
  straddle: NOBODY,
};
const UNPROTECTED: Layout = { kube: { a: { version: 'v1.35.8', flags: [] }, b: NEWER, c: SAME }, straddle: NOBODY };

/** A kube-apiserver looks at its peers at its own pace. */
const NATIVE_TIMEOUT_MS = 60_000;
const PODGROUPS = 'podgroups.v1alpha2.scheduling.k8s.io';

export const inspectCommands: Scenario = {
  number: 40,
  name: 'status, diff and check: before Straddles, with the native feature, and with no protection at all',
  timeoutMs: 600_000,
  async run({ plane }) {
    await plane.arrange(layoutOf('default'));
    await withStraddle(plane);
    await plane.arrange(NATIVE);
    await withNative(plane);
    await plane.arrange(UNPROTECTED);
    withNothing(plane);
  },
};

async function withStraddle(plane: ControlPlane): Promise<void> {
  const found = await until('a good check', 30_000, () => ask<CheckReport>(plane, 'straddle-a', 'check'), isProtected);
  assert.equal(found.code, 0);
  const { servers } = ask<StatusReport>(plane, 'straddle-b', 'status').report;
  assert.deepEqual(
    servers.map(({ name, kind, health }) => [name, kind, health]),
    ['a', 'b', 'c'].flatMap((each) => [
      [`node-${each}`, 'kube-apiserver', 'ready'],
      [`node-${each}`, 'straddle sidecar', 'ready'],
    ]),
  );
  const { clients, resources } = ask<DiffReport>(plane, 'straddle-c', 'diff').report;
  assert.ok(resources.some(({ name, servedBy }) => name === PODGROUPS && servedBy['node-a'] === null));
  assert.deepEqual(
    clients.map(({ uncovered }) => uncovered),
    [[], [], []],
  );
}

async function withNative(plane: ControlPlane): Promise<void> {
  const found = await until(
    'a good check',
    NATIVE_TIMEOUT_MS,
    () => ask<CheckReport>(plane, 'raw-a', 'check'),
    isProtected,
  );
  assert.equal(found.code, 0);
  const seen = found.report.checks.find(({ server, check }) => server === 'node-a' && check === 'peer node-b');
  assert.match(seen?.detail ?? '', /its discovery shows/);
  const { servers } = ask<StatusReport>(plane, 'raw-b', 'status').report;
  assert.deepEqual(new Set(servers.map(({ kind }) => kind)), new Set(['kube-apiserver, native proxy']));
}

function withNothing(plane: ControlPlane): void {
  // Before 1.36 a lease has no address without the gate, and this rig keeps no EndpointSlice.
  const server = `--server=${new URL(plane.a.kube.url).host}`;
  const { report, code } = ask<CheckReport>(plane, 'raw-b', 'check', server);
  assert.equal(code, 1);
  const failed = report.checks
    .filter(({ verdict }) => verdict === 'FAIL')
    .map(({ server: name, check }) => `${name} ${check}`);
  assert.deepEqual(failed, [
    'node-a protection',
    'node-a gate',
    'node-b protection',
    'node-b peer-ca',
    'node-c protection',
    'node-c peer-ca',
    '* everywhere',
  ]);
  const { clients } = ask<DiffReport>(plane, 'raw-b', 'diff', server).report;
  assert.ok(clients.find(({ server: name }) => name === 'node-a')?.uncovered?.includes(PODGROUPS));
}

interface Asked<T> {
  readonly report: T;
  readonly code: number | null;
}

function ask<T>(plane: ControlPlane, context: string, ...argv: string[]): Asked<T> {
  const access = [`--kubeconfig=${plane.kubeconfig}`, `--context=${context}`];
  const { code, stdout, stderr } = runStraddle(...argv, ...access, '--output=json');
  assert.notEqual(stdout, '', `straddle ${argv.join(' ')}: ${stderr}`);
  return { report: JSON.parse(stdout) as T, code };
}

function isProtected({ report }: Asked<CheckReport>): void {
  const open = report.checks.filter(({ verdict }) => verdict === 'FAIL' || verdict === 'unknown');
  assert.equal(report.verdict, 'ok', JSON.stringify(open, null, 1));
}

async function until<T>(what: string, timeoutMs: number, look: () => T, judge: (found: T) => void): Promise<T> {
  let found: T | undefined;
  await eventually(
    what,
    async () => {
      found = look();
      judge(found);
      return true;
    },
    { timeoutMs, intervalMs: 1_000 },
  );
  return found!;
}
