import { Destinations } from '../http/client/destinations.js';
import { UpstreamHost } from '../proxy/hosts/upstream-host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import { formatHostPort } from './config/addresses.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { Backing } from './parts.js';
import type { ServerSurroundings } from './start-server.js';

const PROBE_TIMEOUT_MS = 2_000;
const PROBE_INTERVAL_MS = 500;

/** A kube-apiserver behind this process. */
export function upstreamBacking(
  config: ProxyConfig,
  { clock, logger, tls, own }: Pick<ServerSurroundings, 'clock' | 'logger' | 'tls' | 'own'>,
  surface: { readAnew(): Promise<void> },
): Backing {
  const upstreams = new Destinations(() => tls.upstreamTls());
  const destination = upstreams.make(formatHostPort(config.upstream));
  const host = new UpstreamHost({
    destination,
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    probe: () => own.probeReady(destination, PROBE_TIMEOUT_MS),
    beforeReady: () => surface.readAnew(),
    headTimeoutMs: config.limits.requestTimeoutMs,
    probeIntervalMs: PROBE_INTERVAL_MS,
    clock,
    logger,
  });
  return {
    host,
    fetchLocal: own.fetchFrom(destination),
    start: () => host.start(),
    advertisedAddress: formatHostPort(config.upstream.advertised),
    ownAddresses: [formatHostPort(config.upstream.advertised), formatHostPort(config.upstream)],
    // Credentials in requests are the kube-apiserver's to judge.
    authenticate: (fromConnection) => fromConnection,
    renew: () => upstreams.renew(),
  };
}
