import { systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { createMetrics } from '../base/metric-catalogue.js';
import { StraddleRequests } from '../proxy/identity/straddle-requests.js';
import type { ServerConfig } from './config/server-config.js';
import { loadServerTls } from './server-tls.js';

/** What every server is started with; rejects if its certificates cannot be used. */
export async function surroundingsOf(
  config: ServerConfig,
  logger: Logger,
  upstream: { readonly caFile: string; readonly serverName: string } | undefined,
) {
  const clock = systemClock;
  const tls = await loadServerTls(config, { logger, clock }, upstream);
  const own = new StraddleRequests({
    frontProxy: tls.frontProxy !== undefined,
    userHeader: config.requestHeader.usernameHeaders[0] ?? 'X-Remote-User',
  });
  return { clock, logger, metrics: createMetrics(), tls, own };
}
