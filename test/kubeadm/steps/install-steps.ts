import assert from 'node:assert/strict';
import { isStraddleReply } from '../../../src/proxy/identity/straddle-mark.js';
import { eventually } from '../../real/rig/eventually.js';
import { call } from '../../real/rig/http-client.js';
import { AllClients } from '../clients/all-clients.js';
import { phase } from '../clients/measured-client.js';
import type { Machine } from '../cluster/machine.js';
import type { StaticPods } from '../cluster/static-pods.js';
import { STRADDLE_IMAGE } from '../kubelet/image-program.js';
import { differences, filesOf } from './node-files.js';
import type { Step } from './run-context.js';

const MISSING_IMAGE = 'registry.example/straddle:missing';

export const grantRights: Step = {
  name: 'straddle rbac | kubectl apply -f -',
  async run({ cluster, guide }) {
    await cluster.nodes[0]!.machine.mustType(guide.command('straddle rbac | kubectl apply -f -'));
  },
};

export const rolledBack: Step = {
  name: 'straddle install with an image that cannot be had is rolled back by itself, all files as before',
  async run({ cluster, say }) {
    const { machine, pods } = cluster.nodes[0]!;
    const before = filesOf(machine);
    const { code, output } = await machine.typed(`straddle install --kubeadm --image=${MISSING_IMAGE} --timeout=15s`);
    const last = output.trimEnd().split('\n').at(-1) ?? '';
    say(`  ${last}`);
    assert.equal(code, 1, output);
    assert.match(output, /The installation was rolled back, all files are as before/);
    assert.ok(
      pods.events.some(({ event, image }) => event === 'image missing' && image === MISSING_IMAGE),
      'the kubelet never saw the pod of Straddle',
    );
    assert.deepEqual(differences(before, filesOf(machine)), []);
    await pods.ready('kube-apiserver');
    const answer = await call(cluster.adminAt(cluster.nodes[0]!), '/readyz');
    assert.deepEqual([answer.status, isStraddleReply(answer.headers)], [200, false]);
  },
};

const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const PEER_CA = '/etc/kubernetes/pki/peer-ca.crt';

/**
 * The authority is replaced while the kube-apiserver restarts behind: after it was checked, and before Straddle reads it. It has a
 * file of its own, so that only Straddle is concerned.
 */
export const wrongAuthority: Step = {
  name: 'straddle install whose --peer-ca-file is replaced meanwhile is rolled back, all files as before, and the message names the file',
  async run({ cluster, say }) {
    const { machine, pods } = cluster.nodes[0]!;
    const original = machine.read(MANIFEST);
    machine.write(PEER_CA, machine.read('/etc/kubernetes/pki/ca.crt'));
    await rewritten(
      machine,
      pods,
      original.replace(/^( *)- --client-ca-file=.*$/m, `$&\n$1- --peer-ca-file=${PEER_CA}`),
    );
    const before = filesOf(machine);
    const count = pods.events.length;
    const installing = machine.typed(`straddle install --kubeadm --image=${STRADDLE_IMAGE} --timeout=20s`);
    await eventually('the kube-apiserver is restarted', () =>
      pods.events.slice(count).some(({ pod, event }) => pod === 'kube-apiserver' && event === 'stopping'),
    );
    machine.write(PEER_CA, machine.read('/etc/kubernetes/pki/front-proxy-ca.crt'));
    const { code, output } = await installing;
    const last = output.trimEnd().split('\n').at(-1) ?? '';
    say(`  ${last}`);
    assert.equal(code, 1, output);
    assert.match(
      last,
      /The installation was rolled back, all files are as before: Straddle at 10\.0\.0\.1:6443 was not ready/,
    );
    assert.ok(last.includes(`cannot verify the kube-apiserver at 127.0.0.1:6443 with ${PEER_CA} as it is now: `), last);
    assert.ok(
      pods.events.slice(count).some(({ pod, event }) => pod === 'straddle' && event === 'started'),
      'Straddle never started',
    );
    assert.deepEqual(differences(before, filesOf(machine)), []);
    await pods.ready('kube-apiserver');
    const answer = await call(cluster.adminAt(cluster.nodes[0]!), '/readyz');
    assert.deepEqual([answer.status, isStraddleReply(answer.headers)], [200, false]);
    await rewritten(machine, pods, original);
    machine.remove(PEER_CA);
  },
};

/** Changes the manifest of the kube-apiserver, and waits until it is ready again. */
async function rewritten(machine: Machine, pods: StaticPods, manifest: string): Promise<void> {
  const hash = pods.last('kube-apiserver')?.hash;
  machine.write(MANIFEST, manifest);
  await pods.ready('kube-apiserver', (event) => event.hash !== hash);
}

export const installEverywhere: Step = {
  name: 'straddle install --kubeadm on node after node, with a dry run before each',
  async run(context) {
    const { cluster, before, phases, guide, say } = context;
    const command = guide.command(`straddle install --kubeadm --image=${STRADDLE_IMAGE}`);
    const dryRun = guide.command(`${command} --dry-run`);
    context.clients = await AllClients.start(cluster);
    const install = async () => {
      for (const { name, machine, pods } of cluster.nodes) {
        before.set(name, filesOf(machine));
        assert.match(await machine.mustType(dryRun), /^\+ {4}- --bind-address=127\.0\.0\.1$/m);
        assert.deepEqual(differences(before.get(name)!, filesOf(machine)), [], 'a dry run changed files');
        const startedMs = Date.now();
        const output = await machine.mustType(command);
        await pods.ready('straddle');
        await pods.ready('kube-apiserver');
        say(`  ${name}: ${output.trimEnd().split('\n').at(-1)} (${((Date.now() - startedMs) / 1000).toFixed(0)} s)`);
      }
    };
    phases.push(await phase('install', install));
  },
};

export const checked: Step = {
  name: 'straddle check on each node finds nothing wrong (exit code 0)',
  async run({ cluster, guide }) {
    const command = guide.command('straddle check --kubeconfig=/etc/kubernetes/admin.conf');
    for (const { machine } of cluster.nodes) await machine.mustType(command);
  },
};

export const guideFollowed: Step = {
  name: 'every command of docs/guide/kubeadm.md for a node was run, as it stands there',
  async run({ guide }) {
    assert.deepEqual(guide.left(), []);
  },
};

export const uninstallEverywhere: Step = {
  name: 'straddle uninstall on node after node: manifests and all other files are as before the installation, byte for byte',
  async run({ cluster, before, clients, phases, guide, say }) {
    const uninstall = async () => {
      for (const { name, machine, pods } of cluster.nodes) {
        const startedMs = Date.now();
        const output = await machine.mustType(guide.command('straddle uninstall'));
        await pods.ready('kube-apiserver');
        assert.deepEqual(differences(before.get(name)!, filesOf(machine)), [], output);
        say(`  ${name}: ${before.get(name)!.size} files compared (${((Date.now() - startedMs) / 1000).toFixed(0)} s)`);
      }
    };
    phases.push(await phase('uninstall', uninstall));
    await clients.stop();
  },
};
