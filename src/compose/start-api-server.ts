import type { Logger } from '../base/logger.js';
import type { Reach } from '../http/client/reach.js';
import { createListener } from './client-side.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { makeEmbeddedHost } from './make-embedded-host.js';
import { observedView } from './observed-view.js';
import { openEmbedded } from './open-embedded.js';
import { surroundingsOf } from './program-surroundings.js';
import { controllersWithin } from './start-controllers.js';
import { type InProcessServer, startServer } from './start-server.js';

/** Starts an embedded API server. Rejects, with nothing left running, if it cannot start. */
export async function startApiServer(
  config: ApiServerConfig,
  io: { readonly logger: Logger; readonly reach?: Reach },
): Promise<InProcessServer> {
  const embedded = await openEmbedded(config, io.logger);
  try {
    const surroundings = await surroundingsOf(config, io.logger, undefined);
    const running = await startServer(config, {
      ...surroundings,
      makeHost: (_, peers) => makeEmbeddedHost(config, embedded, { ...surroundings, peers }),
      makeView: (server) => observedView(config, { ...surroundings, kubeconfig: undefined, reach: io.reach }, server),
      makeFront: createListener,
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
