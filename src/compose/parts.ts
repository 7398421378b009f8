import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import type { Host } from '../core/host.js';
import type { Handler } from '../http/exchange.js';
import type { ProxyTls } from '../http/tls/proxy-tls.js';
import type { Authenticate } from '../proxy/identity/authenticate.js';
import type { KnownSurface } from '../proxy/peers/local-surface.js';
import type { PeerDirectory } from '../proxy/peers/peer-table.js';
import type { SurfaceFetch } from '../proxy/peers/surface-reader.js';
import type { OwnRequests } from '../transport/own-requests.js';
import type { ServerConfig } from './config/server-config.js';

/** What stands behind the chain, and all in which the kinds of it differ. */
export interface Backing {
  readonly host: Host;
  /** GETs from the host, as this program itself. */
  readonly fetchLocal: SurfaceFetch;
  /** Begins to serve; resolves when it is known whether the host takes requests. */
  start(): Promise<void>;
  /** host:port of the API server as other machines reach it, where it is not this process itself. */
  readonly advertisedAddress: string | undefined;
  /** Further addresses that are this server, so that it does not take itself for a peer. */
  readonly ownAddresses: readonly string[];
  /** Makes of what the connection and the headers show who asks. */
  readonly authenticate: (fromConnection: Authenticate) => Authenticate;
  /** Calls back when the host serves something else than before; undefined where only asking tells. */
  readonly onSurfaceChange?: (listener: () => void) => void;
  /** Lets nothing be written any more, from this moment on; undefined where that is not this process's to say. */
  readonly sever?: () => void;
  /** Certificates for going out have changed. */
  renew(): void;
}

/** Everything that runs behind the listener, in the order in which it is closed. */
export interface Parts {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tls: ProxyTls;
  readonly own: OwnRequests;
  readonly backing: Backing;
  readonly localSurface: KnownSurface;
  readonly directory: PeerDirectory;
  readonly router: Handler;
}
