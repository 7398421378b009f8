import { readFileSync } from 'node:fs';
import { formatHostPort } from '../base/address.js';
import type { Clock } from '../base/clock.js';
import type { Destinations } from '../http/client/destinations.js';
import { PooledDestination } from '../http/client/pooled-destination.js';
import type { Reach } from '../http/client/reach.js';
import type { Handler } from '../http/exchange.js';
import type { Send } from '../http/outgoing.js';
import type { KubeClient } from '../kube/client/kube-client.js';
import type { Host } from '../proxy/hosts/host.js';
import { sendDirectly, sendThrough } from '../proxy/identity/straddle-requests.js';
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
import type { ProgramSurroundings } from './program-surroundings.js';

export interface ObservedViewOptions extends ProgramSurroundings {
  /** The identity of Straddle's requests to the API; undefined: the front-proxy certificate. */
  readonly kubeconfig: ProxyConfig['kubeconfig'];
  /** The way to peers; default: the network. */
  readonly reach?: Reach | undefined;
  /** Callbacks for changes in the health of endpoints. */
  readonly health?: Pick<PeerDirectoryOptions, 'onHealth' | 'onHang'> | undefined;
}

export async function createDirectory(
  config: ServerConfig,
  parts: ObservedViewOptions & {
    readonly host: Host;
    readonly local: KnownSurface;
    readonly client: KubeClient;
    readonly peers: Destinations;
  },
): Promise<RunningPeerDirectory> {
  const { host, local, client, peers, straddleRequests, clock, logger, metrics, health } = parts;
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
    makeFetch: (destination) => straddleRequests.fetchFrom(destination),
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
    ...health,
  });
}

export function createStraddleLease(
  config: ServerConfig,
  client: KubeClient,
  port: number,
  { host, clock, logger }: Pick<ObservedViewOptions, 'clock' | 'logger'> & { readonly host: Host },
): StraddleLease {
  return new StraddleLease({
    client,
    clock,
    logger,
    serverName: config.serverName,
    advertiseAddress: peerAdvertiseAddress(config, port),
    ...(host.advertisedAddress === undefined ? {} : { upstreamAddress: host.advertisedAddress }),
    ...(host.isBehindProcess === undefined ? {} : { isUpstreamBehind: host.isBehindProcess }),
    durationSeconds: config.leaseDurationSeconds,
  });
}

/** Sends Straddle's requests to the server of a kubeconfig, else through the router. */
export function kubeSend(
  access: ProxyConfig['kubeconfig'],
  router: Handler,
  clock: Clock,
): { readonly send: Send; close(): Promise<void> } {
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
