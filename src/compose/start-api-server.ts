import type { Logger } from '../base/logger.js';
import type { Reach } from '../http/client/reach.js';
import type { Filter } from '../http/exchange.js';
import { createListener } from './client-side.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { makeEmbeddedHost } from './make-embedded-host.js';
import { observedView } from './observed-view.js';
import { openEmbedded } from './open-embedded.js';
import { openPassthrough } from './open-passthrough.js';
import { observedPage } from './page.js';
import { surroundingsOf } from './program-surroundings.js';
import { controllersWithin } from './start-controllers.js';
import { type InProcessServer, startServer } from './start-server.js';

/** An embedded API server, with the path of the kubeconfig that was written for its admin. */
export type EmbeddedServer = InProcessServer & { readonly kubeconfig: string | undefined };

export interface ApiServerSurroundings {
  readonly logger: Logger;
  /** Hook for test rigs. */
  readonly reach?: Reach;
  /** Hook for test rigs: sees every request of a client after its caller is known. */
  readonly intercept?: Filter;
}

/** Starts an embedded API server. Rejects, with nothing left running, if it cannot start. */
export async function startApiServer(config: ApiServerConfig, io: ApiServerSurroundings): Promise<EmbeddedServer> {
  const embedded = await openEmbedded(config, io.logger);
  try {
    const surroundings = await surroundingsOf(config, io.logger, undefined);
    const running = await startServer(config, {
      ...surroundings,
      passthrough: await openPassthrough(config, surroundings),
      makeHost: (_, { peers }) => makeEmbeddedHost(config, embedded, { ...surroundings, peers }),
      makeView: (server) => observedView(config, { ...surroundings, kubeconfig: undefined, reach: io.reach }, server),
      makePage: (parts) => observedPage(parts, { product: 'apiserver' }),
      makeFront: (parts, state) => createListener(parts, state, { intercept: io.intercept }),
      ...(config.controllers.length === 0
        ? {}
        : { makeControllers: (within) => controllersWithin(config, within, surroundings) }),
    });
    try {
      return { ...running, kubeconfig: await embedded.announce(running) };
    } catch (error) {
      await running.close();
      throw error;
    }
  } catch (error) {
    await embedded.backend.close();
    throw error;
  }
}
