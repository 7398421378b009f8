import assert from 'node:assert/strict';
import { pathOf, type ResourceKind } from '../../../src/kube/resource-kind.js';
import { eventually } from '../../real/rig/eventually.js';
import { call, type Endpoint } from '../../real/rig/http-client.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { ControllerScene } from '../clients/controller-scene.js';
import { phase } from '../clients/measured-client.js';
import type { KubeadmCluster, Node } from '../cluster/kubeadm-cluster.js';
import type { RunContext, Step } from './run-context.js';

const SEEN_TIMEOUT_MS = 20_000;

export const upgrade: Step = {
  name: 'the upgrade, node by node: kubeadm upgrade node with the patches, under load',
  async run(context) {
    const { cluster, newer, kind, clients, phases } = context;
    const [first, ...others] = cluster.nodes;
    const capable = cluster.adminAt(first!);
    await cluster.announce(newer);
    const roll = async () => {
      await upgraded(context, first!, newer);
      await seenEverywhere(cluster, kind, context.say);
      await clients.startNewer(capable, kind);
      await controllersDoNoHarm(context, capable, 'upgrade');
      for (const node of others) {
        await mayBeReplaced(context, node);
        await upgraded(context, node, newer);
      }
    };
    phases.push(await phase('upgrade', roll));
  },
};

export const rollback: Step = {
  name: 'the rollback, node by node in the other order, under load',
  async run(context) {
    const { cluster, older, kind, clients, phases } = context;
    const [last, ...others] = cluster.nodes;
    const capable = cluster.adminAt(last!);
    await cluster.announce(older);
    const roll = async () => {
      for (const node of others.toReversed()) await upgraded(context, node, older);
      await controllersDoNoHarm(context, capable, 'rollback');
    };
    phases.push(await phase('rollback', roll));
    // From here on a 404 is right: nobody has the newer API any more.
    await clients.stopNewer(capable, kind);
    phases.push(await phase('rollback, last node', () => upgraded(context, last!, older)));
  },
};

/** As the guide has it, with the look at the kube-apiserver after each node. */
async function upgraded({ cluster, guide }: RunContext, node: Node, version: KubeVersion): Promise<void> {
  await cluster.upgrade(node, version, guide.command('kubeadm upgrade node --patches=/etc/kubernetes/patches'));
  const look =
    'curl --cacert /etc/kubernetes/pki/ca.crt --resolve kubernetes.default.svc:6443:127.0.0.1 ' +
    'https://kubernetes.default.svc:6443/readyz';
  assert.match(await node.machine.mustType(guide.command(look)), /ok$/);
}

/** As the guide has it before the next node. */
async function mayBeReplaced({ guide, say }: RunContext, { name, machine }: Node): Promise<void> {
  const startedMs = Date.now();
  const asked = guide.command('straddle gate --kubeconfig=/etc/kubernetes/admin.conf --server=$(hostname) --wait');
  assert.match(await machine.mustType(asked), /^open$/m);
  say(`  straddle gate: ${name} may be replaced after ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}

/** From now on, a 404 is wrong wherever it comes from. */
async function seenEverywhere(cluster: KubeadmCluster, kind: ResourceKind, say: (line: string) => void): Promise<void> {
  const startedMs = Date.now();
  for (const node of cluster.nodes) {
    await eventually(
      `${node.name} serves ${kind.key}`,
      async () => (await call(cluster.adminAt(node), pathOf(kind, 'default'))).status === 200,
      { timeoutMs: SEEN_TIMEOUT_MS },
    );
  }
  say(`  every node serves ${kind.key} ${Date.now() - startedMs} ms after the first server that has it is ready`);
}

async function controllersDoNoHarm({ kind, harm }: RunContext, capable: Endpoint, label: string): Promise<void> {
  const scene = await ControllerScene.start(capable, kind, label);
  const found = await scene.harm();
  harm.push(...found);
  await scene.end();
}

export const controllersUnharmed: Step = {
  name: 'garbage collector and namespace controller did no harm',
  async run({ harm }) {
    assert.deepEqual(harm, []);
  },
};
