import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stopEverything } from '../../real/rig/process.js';
import { NEWER, OLDER } from '../kubeadm-binaries.js';
import { CgroupRoot } from './cgroup-root.js';
import { ContainerNode } from './container-node.js';
import { KUBELET_STEPS, type KubeletContext } from './kubelet-steps.js';

export interface KubeletRun {
  readonly dir: string;
  /** Folder of the images in files. */
  readonly images: string;
  readonly say: (line: string) => void;
  /** Runs one step, reports it, and resolves to whether it was good. */
  readonly counted: (name: string, work: () => Promise<void>) => Promise<boolean>;
}

/** One node with a real kubelet and containers, from `kubeadm init` to `straddle uninstall`. */
export async function runOnKubelet({ dir, images, say, counted }: KubeletRun): Promise<void> {
  const cgroups = new CgroupRoot();
  await cgroups.make();
  const folder = join(dir, 'real-kubelet');
  mkdirSync(folder);
  let node: ContainerNode | undefined;
  let context: KubeletContext | undefined;
  const bringUp = async () => {
    const options = { dir: folder, images, older: OLDER, newer: NEWER, cgroupRoot: cgroups.name };
    node = await ContainerNode.create(options, (line) => say(`  ${line}`));
    context = { older: OLDER, newer: NEWER, node, before: new Map(), say };
  };
  try {
    let goesOn = await counted(`real kubelet ${OLDER.slice(1)} with containerd: one node by kubeadm`, bringUp);
    for (const step of KUBELET_STEPS) {
      if (goesOn) goesOn = await counted(step.name, () => step.run(context!));
      else say(`     ${step.name}: not taken`);
    }
  } finally {
    await node?.end();
    await stopEverything();
    await cgroups.remove();
  }
}
