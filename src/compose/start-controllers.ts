import { readFileSync } from 'node:fs';
import { Controllers } from '../apiserver/controllers/controllers.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { controllerClient } from './controller-client.js';
import type { ProgramSurroundings } from './program-surroundings.js';
import type { RunningControllers, WithinServer } from './start-server.js';

/** Bound on waiting, at a stop, for work under way: it may wait for a server that hangs. */
const CLOSE_MS_MAX = 5_000;

/** Returns the CA that pods verify API servers with: that of peers, else that of clients. */
function rootCa({ peeringActive, peerCaFile, clientCaFile, tlsCertFile, pkiDir }: ApiServerConfig): string | undefined {
  const file = peeringActive || tlsCertFile.startsWith(pkiDir) ? peerCaFile : clientCaFile;
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

/** Makes the controllers that the configuration enables, inside a server. */
export function controllersWithin(
  config: ApiServerConfig,
  within: WithinServer,
  { clock, logger, metrics }: ProgramSurroundings,
): RunningControllers {
  const controllers = new Controllers({
    client: controllerClient(within, clock),
    clock,
    logger,
    metrics,
    serverName: config.serverName,
    enabled: config.controllers,
    rootCaPem: rootCa(config),
    isReady: within.isReady,
  });
  return {
    start: () => controllers.start(),
    close: () => {
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(CLOSE_MS_MAX, resolve);
      });
      return Promise.race([controllers.close(), late]).finally(cancel);
    },
  };
}
