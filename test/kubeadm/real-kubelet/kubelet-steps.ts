import assert from 'node:assert/strict';
import { isStraddleReply } from '../../../src/proxy/identity/straddle-mark.js';
import { call } from '../../real/rig/http-client.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import { STRADDLE_IMAGE } from '../kubelet/image-program.js';
import { differences, filesOf } from '../steps/node-files.js';
import { type ContainerNode, NODE_NAME } from './container-node.js';

export interface KubeletContext {
  readonly older: KubeVersion;
  readonly newer: KubeVersion;
  readonly node: ContainerNode;
  /** The files of the node before Straddle came. */
  before: ReadonlyMap<string, string>;
  readonly say: (line: string) => void;
}

export interface KubeletStep {
  readonly name: string;
  readonly run: (context: KubeletContext) => Promise<void>;
}

const MANIFEST = 'manifests/kube-apiserver.yaml';
/** What an upgrade of kubeadm writes, beside certificates and kubeconfigs, which are not compared. */
const UPGRADED = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
  (name) => `manifests/${name}.yaml`,
);
/** As in test/kubeadm/cluster/kubeadm-cluster.ts. */
const UPGRADE =
  'kubeadm upgrade node --patches=/etc/kubernetes/patches --skip-phases=preflight,addon --etcd-upgrade=false';

const install: KubeletStep = {
  name: 'real kubelet: straddle install, and its image runs as the manifest says',
  async run(context) {
    const { node, say } = context;
    const { machine } = node;
    await machine.mustType('straddle rbac | kubectl apply -f -');
    context.before = filesOf(machine);
    const output = await machine.mustType(`straddle install --kubeadm --image=${STRADDLE_IMAGE}`);
    say(`  ${output.trimEnd().split('\n').at(-1)}`);
    await node.ready('straddle', STRADDLE_IMAGE);
    await node.ready('kube-apiserver');
    const answer = await call(node.admin, '/readyz');
    assert.equal(answer.status, 200);
    assert.ok(isStraddleReply(answer.headers), 'another server than Straddle answers at the address of the node');
    const status = await node.procFile('straddle', 'status');
    assert.match(status, /^CapEff:\t0+$/m);
    assert.match(status, /^CapBnd:\t0+$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^Seccomp:\t2$/m);
    assert.match(await node.procFile('straddle', 'mounts'), /^\S+ \/ \S+ ro,/m);
  },
};

const upgrade: KubeletStep = {
  name: 'real kubelet: kubeadm upgrade node with the patches',
  async run({ node, newer }) {
    await node.announce(newer);
    await node.machine.mustType(UPGRADE);
    await node.runs(newer);
    await node.ready('straddle', STRADDLE_IMAGE);
    const { headers, status } = await call(node.admin, '/readyz');
    assert.deepEqual([status, isStraddleReply(headers)], [200, true]);
    const version = await call(node.admin, '/version');
    assert.equal(version.json()['gitVersion'], newer);
  },
};

const uninstall: KubeletStep = {
  name: 'real kubelet: straddle uninstall, files as before but for what kubeadm has upgraded',
  async run({ node, before, older, newer }) {
    const { machine } = node;
    const output = await machine.mustType('straddle uninstall');
    await node.gone('straddle');
    await node.ready('kube-apiserver', `:${newer}`);
    const after = filesOf(machine);
    const changed = differences(before, after).filter((each) => !UPGRADED.includes(each.replace(/ is another$/, '')));
    assert.deepEqual(changed, [], output);
    // The manifest of kubeadm is the same in both versions but for the name of the image.
    const withoutVersion = (files: ReadonlyMap<string, string>) =>
      files.get(MANIFEST)!.replaceAll(older, 'VERSION').replaceAll(newer, 'VERSION');
    assert.equal(withoutVersion(after), withoutVersion(before));
    const { headers, status } = await call(node.admin, '/readyz');
    assert.deepEqual(
      [status, isStraddleReply(headers)],
      [200, false],
      `${NODE_NAME} is not served by its kube-apiserver`,
    );
  },
};

export const KUBELET_STEPS: readonly KubeletStep[] = [install, upgrade, uninstall];
