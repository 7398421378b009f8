import { surroundingsOf } from './compose/program-surroundings.js';
import { type RunningServer, startServer } from './compose/server.js';
import { upstreamBacking } from './compose/upstream-backing.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { Logger } from './observe/logger.js';
import type { WorkerProgram } from './workers/worker-process.js';

export { startApiServer } from './compose/api-server.js';
export { type RunningControlPlane, startControlPlane } from './compose/control-plane.js';
export type { ControlPlaneOptions } from './compose/control-plane-options.js';
export { type RehearsalPlaces, startRehearsalPlane } from './compose/rehearsal-plane.js';
export type { RunningServer } from './compose/server.js';

/** Starts a sidecar. Rejects, with nothing left running, when it cannot start as configured. */
export async function startProxy(
  config: ProxyConfig,
  io: { readonly logger: Logger; readonly program?: WorkerProgram },
): Promise<RunningServer> {
  if (config.limits.workers > 1) {
    if (!io.program) throw new Error('Several workers need a program to run; use `straddle proxy --workers`.');
    const { startProxyHead } = await import('./compose/proxy-head.js');
    return startProxyHead(config, { logger: io.logger, program: io.program });
  }
  const surroundings = await surroundingsOf(config, io.logger, config.upstream);
  return startServer(config, {
    ...surroundings,
    kubeconfig: config.kubeconfig,
    makeBacking: (surface) => upstreamBacking(config, surroundings, surface),
  });
}
