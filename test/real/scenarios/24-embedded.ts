import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Binary } from '../rig/binaries.js';
import { EmbeddedPlane, type EmbeddedPlaneOptions } from '../rig/embedded-plane.js';
import { startEtcd } from '../rig/etcd.js';
import { makeNamespace, namespaceName } from '../rig/namespace.js';
import type { Plane } from '../rig/plane.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { newerApiThroughA } from './01-newer-api.js';
import { mergedDiscovery } from './02-discovery.js';
import { jobsThroughA } from './04-batch.js';
import { cameAndWent } from './05-crd-and-apiservice.js';
import { explainAndValidate } from './16-explain-validate.js';
import { clientNode } from './18-client-node.js';

interface PortableScenario {
  readonly name: string;
  programs?(): readonly Binary[];
  run(context: ScenarioContext<Plane>): Promise<void>;
}

/**
 * A scenario's own control plane of `straddle apiserver` processes. "Straight at A" asks a process of A's version and flags
 * on the same store whose mixed version proxy is switched off: an embedded server has nothing else behind its chain.
 */
export async function embeddedContext(
  { plane: { dir, etcd }, defer }: ScenarioContext,
  number: number,
  options: Pick<EmbeddedPlaneOptions, 'storeIn'> = {},
): Promise<ScenarioContext<EmbeddedPlane>> {
  const plane = await EmbeddedPlane.create({ dir: join(dir, `embedded-${number}`), etcd, ...options });
  defer(() => plane.stop());
  const namespace = (): Promise<string> => makeNamespace(plane.b.straddle.admin, namespaceName(number));
  // docs/compatibility.md is about kube-apiservers.
  const worked = (): void => {};
  return { plane, defer, namespace, worked };
}

function onEmbedded(number: number, scenario: PortableScenario): Scenario {
  return {
    number,
    name: `embedded: ${scenario.name}`,
    ...(scenario.programs && { programs: () => scenario.programs?.() ?? [] }),
    run: async (context) => scenario.run(await embeddedContext(context, number)),
  };
}

export const embeddedNewerApi = onEmbedded(24, newerApiThroughA);
export const embeddedDiscovery = onEmbedded(25, mergedDiscovery);
export const embeddedJobs = onEmbedded(26, jobsThroughA);
export const embeddedCameAndWent = onEmbedded(27, cameAndWent);

export const embeddedExplain = onEmbedded(30, explainAndValidate);
export const embeddedClientNode = onEmbedded(31, clientNode);

export const embeddedJobsOnEtcd: Scenario = {
  number: 29,
  name: `embedded, stored in a real etcd: ${jobsThroughA.name}`,
  async run(context) {
    const dir = join(context.plane.dir, 'embedded-29-etcd');
    mkdirSync(dir, { recursive: true });
    const storeIn = await startEtcd(dir);
    context.defer(() => storeIn.process.stop());
    await jobsThroughA.run(await embeddedContext(context, 29, { storeIn }));
  },
};
