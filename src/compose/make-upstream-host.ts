import { formatHostPort } from '../base/address.js';
import { Destinations } from '../http/client/destinations.js';
import { PROBE_INTERVAL_MS } from '../http/server-health.js';
import type { Host } from '../proxy/hosts/host.js';
import { type OtherWay, UpstreamHost } from '../proxy/hosts/upstream-host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ProgramSurroundings } from './program-surroundings.js';
import type { HostedAmongPeers, HostedSurface } from './start-server.js';

/** Makes the host for a kube-apiserver behind this process. */
export function makeUpstreamHost(
  config: ProxyConfig,
  { clock, logger, tls, straddleRequests }: ProgramSurroundings,
  surface: HostedSurface,
  { hasAlternative }: HostedAmongPeers,
): Host {
  const upstreams = new Destinations(() => tls.upstreamTls());
  const destination = upstreams.make(formatHostPort(config.upstream));
  return new UpstreamHost({
    destination,
    renew: () => upstreams.renew(),
    fetch: straddleRequests.fetchFrom(destination),
    advertisedAddress: formatHostPort(config.upstream.advertised),
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    asOthersReachIt: otherWay(config, upstreams, straddleRequests),
    probe: () => straddleRequests.probeReady(destination),
    beforeReady: () => surface.readAnew(),
    mayServeUnread: () => !surface.isRoutedBy(),
    headTimeoutMs: config.limits.requestTimeoutMs,
    hasAlternative,
    probeIntervalMs: PROBE_INTERVAL_MS,
    clock,
    logger,
  });
}

/** The way of other machines to a server that is reached at a loopback address here. */
function otherWay(
  { upstream, peerAdvertiseIp, peerAdvertisePort }: ProxyConfig,
  upstreams: Destinations,
  straddleRequests: ProgramSurroundings['straddleRequests'],
): OtherWay | undefined {
  const { advertised } = upstream;
  const isOwn = advertised.host === peerAdvertiseIp && advertised.port === peerAdvertisePort;
  if (isOwn || advertised.host === upstream.host) return undefined;
  const destination = upstreams.make(formatHostPort(advertised));
  return { probe: () => straddleRequests.probeReady(destination), close: () => destination.close() };
}
