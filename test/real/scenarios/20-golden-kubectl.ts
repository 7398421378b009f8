import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Compared, compare, compareAtOnce, type Sides } from '../golden/compare.js';
import { KubectlSide } from '../golden/kubectl-side.js';
import { type Pair, pairPrograms, startPair } from '../golden/pair.js';
import { ACCESS } from '../golden/steps-access.js';
import { APPLYING_SERVER_SIDE, CHANGING } from '../golden/steps-change.js';
import { CREATING, REFUSED } from '../golden/steps-create.js';
import { CUSTOM } from '../golden/steps-custom.js';
import { DELETING, WAITING, WATCHING } from '../golden/steps-delete.js';
import { DISCOVERING, READING } from '../golden/steps-read.js';
import { writeKubeconfig } from '../rig/kubeconfig.js';
import type { Scenario } from '../scenario.js';

export const goldenKubectl: Scenario = {
  number: 20,
  name: 'the same kubectl commands print the same against a kube-apiserver and against `straddle apiserver`',
  timeoutMs: 300_000,
  programs: pairPrograms,
  async run({ plane, defer }) {
    const pair = await startPair(plane.dir);
    defer(() => pair.stop());
    const compared: Compared = { commands: 0, differences: [] };
    await runAll(sidesOf(pair), compared);
    assert.ok(
      compared.differences.length === 0,
      `${compared.differences.length} of ${compared.commands} commands differ (-kube-apiserver +straddle):\n\n${compared.differences.join('\n\n')}`,
    );
  },
};

async function runAll(sides: Sides, compared: Compared): Promise<void> {
  await compare(sides, CREATING, compared);
  await compareAtOnce(sides, [...READING, ...DISCOVERING, ...ACCESS], compared);
  await compare(sides, [...REFUSED, ...CHANGING, ...CUSTOM, ...APPLYING_SERVER_SIDE], compared);
  await compare(sides, [...WATCHING, ...WAITING, ...DELETING], compared);
}

function sidesOf({ dir, pki, real, ours }: Pair): Sides {
  const kubeconfig = join(dir, 'kubeconfig');
  writeKubeconfig(kubeconfig, { pki, clusters: { real: real.url, ours: ours.url }, current: 'real' });
  return {
    real: new KubectlSide({ kubeconfig, context: 'real', dir }),
    ours: new KubectlSide({ kubeconfig, context: 'ours', dir }),
  };
}
