import type { Handler } from '../http/exchange.js';
import type { Host } from '../proxy/hosts/host.js';
import type { Page } from '../proxy/page/page.js';
import type { Passthrough } from '../proxy/passthrough/passthrough.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView } from './control-plane-view.js';
import type { ProgramSurroundings } from './program-surroundings.js';

/** Everything that runs behind the listener. `stop` in start-server.ts has the order in which it is closed. */
export interface Parts extends ProgramSurroundings {
  readonly config: ServerConfig;
  readonly host: Host;
  readonly view: ControlPlaneView;
  readonly passthrough: Passthrough;
  readonly router: Handler;
  /** Sends a request to the local server, and to no other. */
  readonly localOnly: Handler;
  readonly page: Page;
}

/** What a page is made of. */
export type PageParts = Omit<Parts, 'page'> & { readonly isDraining: () => boolean };
