import { type Clock, systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { createMetrics, type Metrics } from '../base/metric-catalogue.js';
import type { ProxyTls } from '../http/tls/proxy-tls.js';
import { StraddleRequests } from '../proxy/identity/straddle-requests.js';
import type { ServerConfig } from './config/server-config.js';
import { loadServerTls } from './server-tls.js';

export interface ProgramSurroundings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tls: ProxyTls;
  readonly straddleRequests: StraddleRequests;
}

/** Makes the surroundings of a server. Rejects if its certificates cannot be used. */
export async function surroundingsOf(
  config: ServerConfig,
  logger: Logger,
  upstream: { readonly caFile: string; readonly serverName: string } | undefined,
): Promise<ProgramSurroundings> {
  const clock = systemClock;
  const tls = await loadServerTls(config, { logger, clock }, upstream);
  const straddleRequests = new StraddleRequests({
    frontProxy: tls.frontProxy !== undefined,
    userHeader: config.requestHeader.usernameHeaders[0] ?? 'X-Remote-User',
  });
  return { clock, logger, metrics: createMetrics(), tls, straddleRequests };
}
