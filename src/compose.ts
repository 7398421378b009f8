import { controllersWithin } from './compose/controllers.js';
import { embeddedBacking, openEmbedded } from './compose/embedded-backing.js';
import { type RunningServer, startServer } from './compose/server.js';
import { loadServerTls } from './compose/server-tls.js';
import { upstreamBacking } from './compose/upstream-backing.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ServerConfig } from './config/server-config.js';
import { systemClock } from './core/clock.js';
import { createMetrics } from './observe/catalogue.js';
import type { Logger } from './observe/logger.js';
import { OwnRequests } from './transport/own-requests.js';

export { type ControlPlaneOptions, type RunningControlPlane, startControlPlane } from './compose/control-plane.js';
export type { RunningServer } from './compose/server.js';

/** Starts a sidecar. Rejects, with nothing left running, when it cannot start as configured. */
export async function startProxy(config: ProxyConfig, io: { readonly logger: Logger }): Promise<RunningServer> {
  const surroundings = await surroundingsOf(config, io.logger, config.upstream);
  return startServer(config, {
    ...surroundings,
    kubeconfig: config.kubeconfig,
    makeBacking: (surface) => upstreamBacking(config, surroundings, surface),
  });
}

/** Starts an API server of its own. Rejects, with nothing left running, when it cannot start as configured. */
export async function startApiServer(config: ApiServerConfig, io: { readonly logger: Logger }): Promise<RunningServer> {
  const embedded = await openEmbedded(config, io.logger);
  try {
    const surroundings = await surroundingsOf(config, io.logger, undefined);
    const running = await startServer(config, {
      ...surroundings,
      kubeconfig: undefined,
      makeBacking: () => embeddedBacking(config, embedded, surroundings),
      ...(config.controllers.length === 0
        ? {}
        : { makeControllers: (within) => controllersWithin(config, within, surroundings) }),
    });
    await embedded.announce(running);
    return running;
  } catch (error) {
    await embedded.backend.close();
    throw error;
  }
}

async function surroundingsOf(
  config: ServerConfig,
  logger: Logger,
  upstream: { readonly caFile: string; readonly serverName: string } | undefined,
) {
  const clock = systemClock;
  const tls = await loadServerTls(config, { logger, clock }, upstream);
  const own = new OwnRequests({
    frontProxy: tls.frontProxy !== undefined,
    userHeader: config.requestHeader.usernameHeaders[0] ?? 'X-Remote-User',
  });
  return { clock, logger, metrics: createMetrics(), tls, own };
}
