import type { ProxyConfig } from '../config/proxy-config.js';
import type { Clock } from '../core/clock.js';
import type { Handler } from '../core/exchange.js';
import type { Destination } from '../core/outgoing.js';
import type { UpstreamHost } from '../hosts/upstream/upstream-host.js';
import type { Metrics } from '../observe/catalogue.js';
import type { Logger } from '../observe/logger.js';
import type { LocalSurface } from '../peers/local-surface.js';
import type { PeerDirectory } from '../peers/peer-table.js';
import type { OwnRequests } from '../transport/own-requests.js';
import type { ProxyTls } from '../transport/proxy-tls.js';

/** Everything that runs behind the listener, in the order in which it is closed. */
export interface Parts {
  readonly config: ProxyConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tls: ProxyTls;
  readonly own: OwnRequests;
  readonly upstream: Destination;
  readonly host: UpstreamHost;
  readonly localSurface: LocalSurface;
  readonly directory: PeerDirectory;
  readonly router: Handler;
}
