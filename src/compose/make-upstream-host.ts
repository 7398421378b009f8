import { formatHostPort } from '../base/address.js';
import { Destinations } from '../http/client/destinations.js';
import { PROBE_INTERVAL_MS } from '../http/server-health.js';
import type { Host } from '../proxy/hosts/host.js';
import { UpstreamHost } from '../proxy/hosts/upstream-host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ProgramSurroundings } from './program-surroundings.js';

/** Makes the host for a kube-apiserver behind this process. */
export function makeUpstreamHost(
  config: ProxyConfig,
  { clock, logger, tls, straddleRequests }: ProgramSurroundings,
  surface: { readAnew(): Promise<void> },
): Host {
  const upstreams = new Destinations(() => tls.upstreamTls());
  const destination = upstreams.make(formatHostPort(config.upstream));
  return new UpstreamHost({
    destination,
    renew: () => upstreams.renew(),
    fetch: straddleRequests.fetchFrom(destination),
    advertisedAddress: formatHostPort(config.upstream.advertised),
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    probe: () => straddleRequests.probeReady(destination),
    beforeReady: () => surface.readAnew(),
    headTimeoutMs: config.limits.requestTimeoutMs,
    probeIntervalMs: PROBE_INTERVAL_MS,
    clock,
    logger,
  });
}
