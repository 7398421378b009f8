import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { oldKubectl, oldKubectlVersion } from '../rig/old-kubectl.js';
import type { Scenario } from '../scenario.js';
import {
  type AnyKubectl,
  explainsAlike,
  job,
  type KubectlAnswer,
  listsAlike,
  registerAgain,
  works,
} from './kubectl-checks.js';
import { newerApi, newerGroupVersion, newerObject, newerResource } from './newer-api.js';

export const oldAndNewKubectl: Scenario = {
  number: 17,
  name: 'kubectl 1.20 and that of the newest server: same api-resources and api-versions everywhere; what only B serves works with both',
  timeoutMs: 240_000,
  async run({ plane, namespace, worked }) {
    const kubectls: [string, AnyKubectl][] = [
      [oldKubectlVersion(), oldKubectl(plane)],
      [plane.kubectl.version.slice(1), (options, ...args) => plane.kubectl.try(options, ...args)],
    ];
    for (const skew of ['default', 'batch'] as const) {
      await plane.arrange(layoutOf(skew));
      for (const [version, kubectl] of kubectls) {
        await listsAlike(kubectl, `${skew}, kubectl ${version}`);
        const ns = await namespace();
        await works(kubectl, ns, { name: newerResource(), manifest: newerObject('one') });
        await works(kubectl, ns, { name: 'jobs', manifest: job('one') });
        worked({ name: 'kubectl', version });
      }
      await registerAgain(plane);
      await oldKubectlKnowsTheFields(plane, await namespace());
    }
  },
};

/** It validates before it sends, with OpenAPI v2, and explains from it. */
async function oldKubectlKnowsTheFields(plane: ControlPlane, ns: string): Promise<void> {
  const kubectl = oldKubectl(plane);
  const misspelt = newerObject('misspelt', { misspelt: {} });
  const refused = async (context: string): Promise<KubectlAnswer> =>
    kubectl({ context, input: misspelt }, '-n', ns, 'create', '-f', '-');
  const straight = await refused('raw-b');
  assert.match(straight.stderr, /unknown field "misspelt"/);
  assert.deepEqual(await refused('straddle-a'), straight);
  await explainsAlike(kubectl, newerApi().kind.toLowerCase(), `--api-version=${newerGroupVersion()}`);
  await explainsAlike(kubectl, 'job.spec');
}
