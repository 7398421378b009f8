import { readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import type { Destinations } from '../http/client/destinations.js';
import { PooledDestination } from '../http/client/pooled-destination.js';
import type { Handler } from '../http/exchange.js';
import type { KubeClient, KubeSend } from '../kube/client/kube-client.js';
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
import { OwnLease } from '../proxy/peers/straddle-lease.js';
import { type OwnRequests, sendDirectly, sendThrough } from '../transport/own-requests.js';
import { formatHostPort } from './config/addresses.js';
import { peerAdvertiseAddress } from './config/load-server-config.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ServerConfig } from './config/server-config.js';
import type { Backing } from './parts.js';

export async function createDirectory(
  config: ServerConfig,
  parts: {
    backing: Backing;
    localSurface: KnownSurface;
    client: KubeClient;
    peers: Destinations;
    own: OwnRequests;
    clock: Clock;
    logger: Logger;
    metrics: Metrics;
    /** Who else wants to know how endpoints are. */
    health: Pick<PeerDirectoryOptions, 'onHealth' | 'onHang'> | undefined;
  },
): Promise<RunningPeerDirectory> {
  const { backing, localSurface, client, peers, own, clock, logger, metrics, health } = parts;
  const memory = await DepartedMemory.open({
    clock,
    logger,
    graceMs: config.departedGraceMs,
    stateDir: config.stateDir,
    ownNames: [config.serverName],
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
        ...backing.ownAddresses,
      ],
    },
    memory,
    timings: { readEveryMs: config.surfaceRefreshMs, goneAfterMs: config.peerGoneAfterMs },
    local: {
      surface: () => (backing.host.ready() ? localSurface.surface : undefined),
      onChange: (listener) => localSurface.onChange(listener),
    },
    onReadFailed: (_identity, type) => metrics.discoverySyncErrors.labels(type).inc(),
    onHealth: health?.onHealth,
    onHang: health?.onHang,
  });
}

export function createOwnLease(
  config: ServerConfig,
  client: KubeClient,
  port: number,
  { backing, clock, logger }: { backing: Backing; clock: Clock; logger: Logger },
): OwnLease {
  return new OwnLease({
    client,
    clock,
    logger,
    serverName: config.serverName,
    advertiseAddress: peerAdvertiseAddress(config, port),
    ...(backing.advertisedAddress === undefined ? {} : { upstreamAddress: backing.advertisedAddress }),
    durationSeconds: config.leaseDurationSeconds,
  });
}

/** How Straddle's own requests travel, and how to end that. */
export interface OwnSend {
  readonly send: KubeSend;
  close(): Promise<void>;
}

export function kubeSend(
  access: ProxyConfig['kubeconfig'],
  routed: { readonly handler: Handler },
  clock: Clock,
): OwnSend {
  if (!access) {
    const send = sendThrough(
      () => routed.handler,
      () => clock.nowMs(),
    );
    return { send, close: async () => {} };
  }
  const server = new URL(access.server);
  const pem = (source: typeof access.ca) =>
    source && ('pem' in source ? source.pem : readFileSync(source.file, 'utf8'));
  const destination = new PooledDestination({
    address: server.host.includes(':') && server.port ? server.host : `${server.host}:443`,
    tls: {
      ca: pem(access.ca),
      servername: access.serverName,
      cert: pem(access.clientCert),
      key: pem(access.clientKey),
    },
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
