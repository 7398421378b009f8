import assert from 'node:assert/strict';
import { call } from '../../real/rig/http-client.js';
import { AllClients } from '../clients/all-clients.js';
import { phase } from '../clients/measured-client.js';
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
    assert.deepEqual([answer.status, answer.headers['x-straddle']], [200, undefined]);
  },
};

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
