import assert from 'node:assert/strict';
import type { CheckReport } from '../../../src/tools/inspect/check-report.js';
import type { DiffReport } from '../../../src/tools/inspect/diff-report.js';
import type { StatusReport } from '../../../src/tools/inspect/status-report.js';
import { chosenServers } from '../rig/chosen-servers.js';
import { type ControlPlane, type Layout, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { newerSettings, olderSettings } from '../rig/skew.js';
import { runStraddle } from '../rig/straddle.js';
import { ADDRESS_IN_LEASE_SINCE, isSince, NATIVE_BY_DEFAULT_SINCE } from '../rig/version-facts.js';
import type { Scenario } from '../scenario.js';
import { newerApi } from './newer-api.js';

const NOBODY = { a: undefined, b: undefined, c: undefined };

/** kube-apiserver's own proxy on all three, which are of one version; only B has the newer API. */
function native(): Layout {
  const { b } = chosenServers();
  const same = { ...olderSettings(b), native: true };
  return { kube: { a: same, b: { ...newerSettings(b), native: true }, c: same }, straddle: NOBODY };
}

function unprotected(): Layout {
  const { a, b, c } = chosenServers();
  return { kube: { a: olderSettings(a), b: newerSettings(b), c: olderSettings(c) }, straddle: NOBODY };
}

/** A kube-apiserver looks at its peers at its own pace. */
const NATIVE_TIMEOUT_MS = 60_000;

/** As reports name it: `podgroups.v1beta1.scheduling.k8s.io`. */
function newerName(): string {
  const { group, version, resource } = newerApi();
  return `${resource}.${version}.${group}`;
}

export const inspectCommands: Scenario = {
  number: 40,
  name: 'status, diff and check: before Straddles, with the native feature, and with no protection at all',
  timeoutMs: 600_000,
  async run({ plane }) {
    await plane.arrange(layoutOf('default'));
    await withStraddle(plane);
    await plane.arrange(native());
    await withNative(plane);
    await plane.arrange(unprotected());
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
  assert.ok(resources.some(({ name, servedBy }) => name === newerName() && servedBy['node-a'] === null));
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
  const { a, b, c } = chosenServers();
  // Without an address in its lease A cannot be found: this rig keeps no EndpointSlice.
  const server = isSince(a, ADDRESS_IN_LEASE_SINCE) ? [] : [`--server=${new URL(plane.a.kube.url).host}`];
  const { report, code } = ask<CheckReport>(plane, 'raw-b', 'check', ...server);
  assert.equal(code, 1);
  const failed = report.checks
    .filter(({ verdict }) => verdict === 'FAIL')
    .map(({ server: name, check }) => `${name} ${check}`);
  const lacking = Object.entries({ a, b, c }).flatMap(([name, version]) => [
    `node-${name} protection`,
    `node-${name} ${isSince(version, NATIVE_BY_DEFAULT_SINCE) ? 'peer-ca' : 'gate'}`,
  ]);
  assert.deepEqual(failed, [...lacking, '* everywhere']);
  const { clients } = ask<DiffReport>(plane, 'raw-b', 'diff', ...server).report;
  assert.ok(clients.find(({ server: name }) => name === 'node-a')?.uncovered?.includes(newerName()));
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
