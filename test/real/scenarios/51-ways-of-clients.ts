import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckReport } from '../../../src/tools/inspect/check-report.js';
import type { CheckLine } from '../../../src/tools/inspect/checks/check-line.js';
import { chosenServers } from '../rig/chosen-servers.js';
import { type ControlPlane, type Layout, layoutOf } from '../rig/control-plane.js';
import { startEtcd } from '../rig/etcd.js';
import { eventually } from '../rig/eventually.js';
import { freePort } from '../rig/free-port.js';
import { call } from '../rig/http-client.js';
import { KubeApiserver } from '../rig/kube-apiserver.js';
import { writeKubeconfig } from '../rig/kubeconfig.js';
import { Kubectl } from '../rig/kubectl.js';
import { createPki, type Pki } from '../rig/pki.js';
import { newerSettings, olderSettings } from '../rig/skew.js';
import { runStraddle, Straddle } from '../rig/straddle.js';
import { isSince, NATIVE_BY_DEFAULT_SINCE } from '../rig/version-facts.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { pod } from './pod.js';

const COMPONENTS = ['controller-manager', 'scheduler', 'kubelet'] as const;
const PODS = '/api/v1/namespaces/kube-system/pods';
const ACCOUNTS = '/api/v1/namespaces/kube-system/serviceaccounts';
/** One machine: the kube-apiserver listens at the first address, as at 127.0.0.1, and advertises the second, that of Straddle. */
const INSIDE = '127.0.0.41';
const OUTSIDE = '127.0.0.42';

export const waysOfClients: Scenario = {
  number: 51,
  name: 'check follows the ways of clients: no Straddle, Straddle at another port, same port and other address',
  timeoutMs: 600_000,
  async run(context) {
    const { plane } = context;
    await plane.arrange(unprotected());
    withoutStraddle(plane);
    await plane.arrange(layoutOf('default'));
    await withAnotherPort(context);
    await withTheSamePort(context);
  },
};

function unprotected(): Layout {
  const { a, b, c } = chosenServers();
  return {
    kube: { a: olderSettings(a), b: newerSettings(b), c: newerSettings(c) },
    straddle: { a: undefined, b: undefined, c: undefined },
  };
}

function withoutStraddle(plane: ControlPlane): void {
  const { code, report } = check(plane.kubeconfig, 'raw-b');
  assert.equal(code, 1);
  assert.deepEqual(linesOf(report, ...COMPONENTS, 'service', 'kubeconfig'), []);
  const [everywhere] = linesOf(report, 'everywhere');
  assert.equal(everywhere?.verdict, 'FAIL');
  const { a, b, c } = chosenServers();
  if (![a, b, c].every((each) => isSince(each, NATIVE_BY_DEFAULT_SINCE))) return;
  assert.match(everywhere.detail, /is off without --peer-ca-file/);
  assert.match(everywhere.mend ?? '', /--peer-ca-file.*straddle install --kubeadm/);
}

/** The rig's own layout: everybody with the address of a kube-apiserver goes past its Straddle. */
async function withAnotherPort({ plane, defer }: ScenarioContext): Promise<void> {
  const { a, b } = plane;
  const bypassing = components(plane, 'bypassing', a.kube.url);
  await eventually('a good check but for the components', () => check(plane.kubeconfig, 'straddle-a').code === 0);
  const found = check(plane.kubeconfig, 'raw-a', `--components-dir=${bypassing}`);
  assert.equal(found.code, 1);
  assert.deepEqual(
    linesOf(found.report, 'kubeconfig', ...COMPONENTS).map((each) => `${each.check} ${each.verdict}`),
    ['kubeconfig FAIL', 'controller-manager FAIL', 'scheduler FAIL', 'kubelet warn'],
  );
  assert.match(linesOf(found.report, 'controller-manager')[0]!.detail, /bypasses Straddle: .*controller-manager\.conf/);
  // The components of other machines are seen by their pods, which name a file.
  const { admin } = a.straddle;
  await call(admin, ACCOUNTS, { method: 'POST', body: { kind: 'ServiceAccount', metadata: { name: 'default' } } });
  for (const [name, flag] of [
    ['kube-controller-manager', '--kubeconfig=/etc/kubernetes/controller-manager.conf'],
    ['kube-scheduler', `--master=${b.kube.url}`],
  ] as const) {
    const created = await call(admin, PODS, { method: 'POST', body: mirrorPod(name, b.hostname, flag) });
    assert.equal(created.status, 201, created.text);
    defer(() => call(admin, `${PODS}/${name}-b?gracePeriodSeconds=0`, { method: 'DELETE' }));
  }
  const through = components(plane, 'through', a.straddle.url);
  const { report } = check(plane.kubeconfig, 'straddle-a', `--components-dir=${through}`);
  const ofB = linesOf(report, ...COMPONENTS).filter(({ server }) => server === b.hostname);
  assert.deepEqual(
    ofB.map((each) => `${each.check} ${each.verdict}`),
    ['controller-manager unknown', 'scheduler FAIL'],
  );
  const others = linesOf(report, 'kubeconfig', ...COMPONENTS).filter(({ server }) => server !== b.hostname);
  assert.deepEqual(new Set(others.map(({ verdict }) => verdict)), new Set(['ok']));
}

/** A control plane of one node, with its own store: leases of servers that were stopped live for an hour. */
async function withTheSamePort({ plane, defer }: ScenarioContext): Promise<void> {
  const dir = join(plane.dir, 'same-port');
  mkdirSync(dir, { recursive: true });
  const pki = createPki(join(dir, 'pki'));
  const etcd = await startEtcd(dir);
  defer(() => etcd.process.stop());
  const machine = { name: 'same-port', hostname: 'node-same-port', port: await freePort(OUTSIDE), dir, pki };
  const kube = new KubeApiserver({ ...machine, address: INSIDE, etcdUrl: etcd.url });
  defer(() => kube.stop());
  const settings = newerSettings(chosenServers().b);
  await kube.start({ ...settings, flags: [...settings.flags, `--advertise-address=${OUTSIDE}`] });
  const straddle = new Straddle({ ...machine, address: OUTSIDE, upstreamUrl: kube.url });
  const kubeconfig = join(dir, 'kubeconfig');
  writeKubeconfig(kubeconfig, { pki, current: 'node', clusters: { node: straddle.url, inside: kube.url } });
  const kubectl = new Kubectl(kubeconfig, dir);
  await kubectl.run({ context: 'inside', input: runStraddle('rbac').stdout }, 'apply', '-f', '-');
  defer(() => straddle.stop());
  await straddle.start();
  const folder = components({ dir, pki }, 'components', straddle.url);
  const look = () => check(kubeconfig, 'node', `--components-dir=${folder}`);
  await eventually('a clean check', () => look().code === 0);
  const { report } = look();
  // Warnings: the front-proxy certificate of the rig is for a day.
  const wrong = report.checks.filter(({ verdict }) => verdict === 'FAIL');
  assert.deepEqual(wrong, []);
  // Loopback addresses are not allowed in EndpointSlices, so this rig has none.
  const ways = linesOf(report, 'service', 'kubeconfig', ...COMPONENTS);
  assert.deepEqual(
    ways.map((each) => `${each.check} ${each.verdict}`),
    ['service unknown', 'kubeconfig ok', ...COMPONENTS.map((each) => `${each} ok`)],
  );
  // A program that uses the address inside goes past it.
  assert.equal(linesOf(check(kubeconfig, 'inside').report, 'kubeconfig')[0]?.verdict, 'FAIL');
}

/** Writes the kubeconfigs of a node into a folder, as kubeadm names them. */
function components({ dir, pki }: { readonly dir: string; readonly pki: Pki }, name: string, server: string): string {
  const folder = join(dir, `components-${name}`);
  mkdirSync(folder, { recursive: true });
  for (const each of COMPONENTS) {
    writeKubeconfig(join(folder, `${each}.conf`), { pki, current: 'node', clusters: { node: server } });
  }
  return folder;
}

function mirrorPod(component: string, nodeName: string, flag: string) {
  const { metadata, spec, ...rest } = pod(`${component}-b`, '10m', nodeName) as unknown as {
    metadata: object;
    spec: { containers: readonly object[] };
  };
  const containers = spec.containers.map((each) => ({ ...each, command: [component, flag] }));
  return { ...rest, metadata: { ...metadata, labels: { component } }, spec: { ...spec, containers } };
}

function check(kubeconfig: string, context: string, ...argv: string[]): { code: number | null; report: CheckReport } {
  const access = [`--kubeconfig=${kubeconfig}`, `--context=${context}`];
  const { code, stdout, stderr } = runStraddle('check', ...argv, ...access, '--output=json');
  assert.notEqual(stdout, '', stderr);
  return { code, report: JSON.parse(stdout) as CheckReport };
}

function linesOf({ checks }: CheckReport, ...names: readonly string[]): CheckLine[] {
  return checks.filter(({ check: name }) => names.includes(name));
}
