import { readFileSync } from 'node:fs';
import { formatHostPort } from '../base/address.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import type { Destinations } from '../http/client/destinations.js';
import { PooledDestination } from '../http/client/pooled-destination.js';
import type { Handler } from '../http/exchange.js';
import type { Send } from '../http/outgoing.js';
import type { KubeClient } from '../kube/client/kube-client.js';
import type { Host } from '../proxy/hosts/host.js';
import { type StraddleRequests, sendDirectly, sendThrough } from '../proxy/identity/straddle-requests.js';
import { DepartedMemory } from '../proxy/peers/departed-memory.js';
import { createEndpointSource } from '../proxy/peers/endpoint-source.js';
import { LeaseSource } from '../proxy/peers/lease-source.js';
import type { KnownSurface } from '../proxy/peers/local-surface.js';
import {
  createPeerDirectory,
  type PeerDirectoryOptions,
  type RunningPeerDirectory,
} from '../proxy/peers/peer-directory.js';
import type { PeerSource } from '../proxy/peers/peer-source.js';
import { createStaticSource } from '../proxy/peers/static-source.js';
import { StraddleLease } from '../proxy/peers/straddle-lease.js';
import { tlsOfAccess } from './config/kubeconfig.js';
import { peerAdvertiseAddress } from './config/load-server-config.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ServerConfig } from './config/server-config.js';

export async function createDirectory(
  config: ServerConfig,
  parts: {
    host: Host;
    local: KnownSurface;
    client: KubeClient;
    peers: Destinations;
    own: StraddleRequests;
    clock: Clock;
    logger: Logger;
    metrics: Metrics;
    /** Who else wants to know how endpoints are. */
    health: Pick<PeerDirectoryOptions, 'onHealth' | 'onHang'> | undefined;
  },
): Promise<RunningPeerDirectory> {
  const { host, local, client, peers, own, clock, logger, metrics, health } = parts;
  const memory = await DepartedMemory.open({
    clock,
    logger,
    graceMs: config.departedGraceMs,
    stateDir: config.stateDir,
    selfNames: [config.serverName],
  });
  const sources: PeerSource[] = [];
  if (config.peerSources.leases) {
    sources.push(new LeaseSource({ client, clock, logger, isKnown: (sighting) => memory.knows(sighting) }));
  }
  if (config.peerSources.endpoints) sources.push(createEndpointSource({ client, logger }));
  if (config.staticPeers.length > 0) {
    sources.push(createStaticSource(config.staticPeers.map((peer) => `https://${formatHostPort(peer)}`)));
  }
  return createPeerDirectory({
    sources,
    makeDestination: (endpoint) => peers.make(endpoint.address),
    makeFetch: (destination) => own.fetchFrom(destination),
    clock,
    logger,
    selves: {
      names: [config.serverName],
      addresses: [
        formatHostPort({ host: config.peerAdvertiseIp, port: config.peerAdvertisePort }),
        ...host.furtherAddresses,
      ],
    },
    memory,
    timings: { readEveryMs: config.surfaceRefreshMs, goneAfterMs: config.peerGoneAfterMs },
    local: {
      surface: () => (host.ready() ? local.surface : undefined),
      onChange: (listener) => local.onChange(listener),
    },
    onReadFailed: (_identity, type) => metrics.discoverySyncErrors.labels(type).inc(),
    onHealth: health?.onHealth,
    onHang: health?.onHang,
  });
}

export function createStraddleLease(
  config: ServerConfig,
  client: KubeClient,
  port: number,
  { host, clock, logger }: { host: Host; clock: Clock; logger: Logger },
): StraddleLease {
  return new StraddleLease({
    client,
    clock,
    logger,
    serverName: config.serverName,
    advertiseAddress: peerAdvertiseAddress(config, port),
    ...(host.advertisedAddress === undefined ? {} : { upstreamAddress: host.advertisedAddress }),
    durationSeconds: config.leaseDurationSeconds,
  });
}

/** How Straddle's own requests travel, and how to end that. */
export interface StraddleSend {
  readonly send: Send;
  close(): Promise<void>;
}

export function kubeSend(access: ProxyConfig['kubeconfig'], router: Handler, clock: Clock): StraddleSend {
  if (!access) {
    const send = sendThrough(
      () => router,
      () => clock.nowMs(),
    );
    return { send, close: async () => {} };
  }
  const server = new URL(access.server);
  const destination = new PooledDestination({
    address: server.host.includes(':') && server.port ? server.host : `${server.host}:443`,
    tls: tlsOfAccess(access, (path) => readFileSync(path, 'utf8')),
    connectTimeoutMs: 3_000,
    keepAliveMs: 60_000,
  });
  const send = sendDirectly({
    destination,
    basePath: server.pathname.replace(/\/$/, ''),
    hasCertificate: access.clientCert !== undefined,
    token: access.token,
    tokenFile: access.tokenFile,
  });
  return { send, close: () => destination.close() };
}
