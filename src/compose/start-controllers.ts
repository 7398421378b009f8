import { readFileSync } from 'node:fs';
import { Controllers } from '../apiserver/controllers/controllers.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { controllerClient } from './controller-client.js';
import type { RunningControllers, ServerSurroundings, WithinServer } from './start-server.js';

/** Work under way may wait for a server that hangs; stopping does not wait for it longer than this. */
const CLOSE_MS_MAX = 5_000;

/** What pods verify API servers with: as servers do each other, or, where they do not, as clients are verified. */
function rootCa({ peeringActive, peerCaFile, clientCaFile, tlsCertFile, pkiDir }: ApiServerConfig): string | undefined {
  const file = peeringActive || tlsCertFile.startsWith(pkiDir) ? peerCaFile : clientCaFile;
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

/** The controllers that were asked for, inside a server. */
export function controllersWithin(
  config: ApiServerConfig,
  within: WithinServer,
  { clock, logger, metrics }: Pick<ServerSurroundings, 'clock' | 'logger' | 'metrics'>,
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
