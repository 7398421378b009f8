import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import type { Handler } from '../http/exchange.js';
import type { ProxyTls } from '../http/tls/proxy-tls.js';
import type { Host } from '../proxy/hosts/host.js';
import type { StraddleRequests } from '../proxy/identity/straddle-requests.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView } from './control-plane-view.js';

/** Everything that runs behind the listener. `stop` in start-server.ts has the order in which it is closed. */
export interface Parts {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tls: ProxyTls;
  readonly own: StraddleRequests;
  readonly host: Host;
  readonly view: ControlPlaneView;
  readonly router: Handler;
}
