import type { Logger } from '../base/logger.js';
import type { WorkerProgram } from '../proxy/workers/worker-process.js';
import { createListener } from './client-side.js';
import type { ProxyConfig } from './config/proxy-config.js';
import { makeUpstreamHost } from './make-upstream-host.js';
import { observedView } from './observed-view.js';
import { openPassthrough } from './open-passthrough.js';
import { observedPage } from './page.js';
import { surroundingsOf } from './program-surroundings.js';
import { type RunningServer, startServer } from './start-server.js';

/** Starts a sidecar. Rejects, with nothing left running, if it cannot start as configured. */
export async function startProxy(
  config: ProxyConfig,
  io: { readonly logger: Logger; readonly program?: WorkerProgram },
): Promise<RunningServer> {
  if (config.limits.workers > 1) {
    if (!io.program) throw new Error('Several workers need a program to run; use `straddle proxy --workers`.');
    const { startProxyHead } = await import('./proxy-head.js');
    return startProxyHead(config, { logger: io.logger, program: io.program });
  }
  const surroundings = await surroundingsOf(config, io.logger, config.upstream);
  return startServer(config, {
    ...surroundings,
    passthrough: await openPassthrough(config, surroundings),
    makeHost: (surface, among) => makeUpstreamHost(config, surroundings, surface, among),
    makeView: (server) => observedView(config, { ...surroundings, kubeconfig: config.kubeconfig }, server),
    makePage: (parts) => observedPage(parts, { product: 'sidecar' }),
    makeFront: createListener,
  });
}
