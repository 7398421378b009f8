import { readFileSync } from 'node:fs';
import { formatHostPort } from './config/addresses.js';
import { peerAdvertiseAddress } from './config/load-proxy-config.js';
import type { ProxyConfig } from './config/proxy-config.js';
import { type Clock, systemClock } from './core/clock.js';
import { chain, type Handler } from './core/exchange.js';
import { FairLimiter } from './core/fair-limiter.js';
import { AttemptError } from './core/host.js';
import type { Destination } from './core/outgoing.js';
import type { RequestInfo } from './core/request-info.js';
import { serves } from './core/surface.js';
import { DocumentFetcher, type SendTo } from './discovery/document-fetch.js';
import { ViewCache } from './discovery/documents.js';
import { LegacyDiscovery } from './discovery/legacy.js';
import { permission } from './discovery/permission.js';
import { StorageHashReader } from './discovery/storage-hashes.js';
import { discoveryFilter } from './filters/discovery.js';
import { errorsFilter } from './filters/errors.js';
import { identityFilter } from './filters/identity.js';
import { limitsFilter } from './filters/limits.js';
import { observeFilter } from './filters/observe.js';
import { type HealthCheck, ownPagesFilter } from './filters/own-pages.js';
import { requestInfoFilter } from './filters/request-info.js';
import { UpstreamHost } from './hosts/upstream/upstream-host.js';
import { createAuthenticator } from './identity/authenticate.js';
import { createOutgoingHeaders } from './identity/outgoing-headers.js';
import { createMetrics, type Metrics } from './observe/catalogue.js';
import type { Logger } from './observe/logger.js';
import { DepartedMemory } from './peers/departed-memory.js';
import { createEndpointSource } from './peers/endpoint-source.js';
import { KubeClient, type KubeSend } from './peers/kube-client.js';
import { LeaseSource } from './peers/lease-source.js';
import { LocalSurface } from './peers/local-surface.js';
import { noPeers } from './peers/no-peers.js';
import { OwnLease } from './peers/own-lease.js';
import { createPeerDirectory, type RunningPeerDirectory } from './peers/peer-directory.js';
import type { PeerSource } from './peers/peer-source.js';
import type { PeerDirectory } from './peers/peer-table.js';
import { createStaticSource } from './peers/static-source.js';
import { SurfaceReader } from './peers/surface-reader.js';
import { createPeerDispatch } from './routing/peer-dispatch.js';
import { Rerouter } from './routing/reroute.js';
import { createRouter } from './routing/router.js';
import { Listener } from './server/listener.js';
import { Destinations } from './transport/destinations.js';
import { OwnRequests, sendDirectly, sendThrough } from './transport/own-requests.js';
import { PooledDestination } from './transport/pooled-destination.js';
import { ProxyTls } from './transport/proxy-tls.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** Drains and stops; resolves when all is closed. */
  close(): Promise<void>;
  readonly closed: Promise<void>;
}

const PROBE_TIMEOUT_MS = 2_000;
const PROBE_INTERVAL_MS = 500;
const IDLE_CONNECTION_MS = 180_000;

/** Everything that runs behind the listener, in the order in which it is closed. */
interface Parts {
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

/** Starts a sidecar. Rejects, with nothing left running, when it cannot start as configured. */
export async function startProxy(config: ProxyConfig, io: { readonly logger: Logger }): Promise<RunningServer> {
  const clock = systemClock;
  const { logger } = io;
  if (config.peeringInactiveReason) logger.warn(config.peeringInactiveReason);

  const metrics = createMetrics();
  const tls = await loadTls(config, clock, logger);
  const own = new OwnRequests({
    frontProxy: tls.frontProxy !== undefined,
    userHeader: config.requestHeader.usernameHeaders[0] ?? 'X-Remote-User',
  });
  const upstreams = new Destinations(() => tls.upstreamTls());
  const upstream = upstreams.make(formatHostPort(config.upstream));
  const host = createHost(config, upstream, own, { clock, logger });
  const localSurface = new LocalSurface({
    reader: new SurfaceReader({ fetch: own.fetchFrom(upstream), clock }),
    readEveryMs: config.surfaceRefreshMs,
    hostReady: () => host.ready(),
    clock,
    logger,
    onReadFailed: () => metrics.discoverySyncErrors.labels('local').inc(),
  });
  host.onReadyChange((ready) => localSurface.hostChanged(ready));

  // The directory asks through the router and the router asks the directory: the one knot in the whole.
  const routed: { handler: Handler } = {
    handler: () => Promise.reject(new AttemptError('unsent', 'starting', 'starting')),
  };
  const client = new KubeClient({ send: kubeSend(config, routed, clock), clock });
  const peers = new Destinations(() => tls.peerTls());
  const running = config.peeringActive
    ? await createDirectory(config, { client, peers, own, clock, logger, metrics })
    : undefined;
  const directory: PeerDirectory = running ?? noPeers();
  routed.handler = createRouterOf({ config, clock, logger, metrics, host, localSurface, directory });

  tls.onOutgoingChange(() => {
    upstreams.renew();
    peers.renew();
  });
  const parts: Parts = {
    upstream,
    config,
    clock,
    logger,
    metrics,
    tls,
    own,
    host,
    localSurface,
    directory,
    router: routed.handler,
  };
  const state = { draining: false };
  const listener = createListener(parts, state);
  const bound = await listener.listen().catch((error: NodeJS.ErrnoException) => {
    tls.close();
    throw listenError(error, config);
  });
  const lease = running ? createOwnLease(config, client, bound.port, { clock, logger }) : undefined;
  fillGauges(parts, running);

  await host.start();
  await localSurface.start();
  running?.start();
  void lease?.start();

  return runningServer(parts, { listener, running, lease, state, address: bound.address, port: bound.port });
}

function createHost(
  config: ProxyConfig,
  destination: Destination,
  own: OwnRequests,
  { clock, logger }: { clock: Clock; logger: Logger },
): UpstreamHost {
  return new UpstreamHost({
    destination,
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    probe: () => own.probeReady(destination, PROBE_TIMEOUT_MS),
    headTimeoutMs: config.limits.requestTimeoutMs,
    probeIntervalMs: PROBE_INTERVAL_MS,
    clock,
    logger,
  });
}

function createRouterOf(parts: Omit<Parts, 'tls' | 'own' | 'upstream' | 'router'>): Handler {
  const { config, clock, logger, metrics, host, localSurface, directory } = parts;
  const { limits } = config;
  const dispatch = createPeerDispatch({
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    headTimeoutMs: limits.requestTimeoutMs,
    limits: {
      inFlightMax: limits.requestsInFlightPerPeerMax,
      queueMax: limits.queuedRequestsMax,
      waitMsMax: limits.queueWaitMs,
      clock,
    },
  });
  const rerouter = new Rerouter({
    dispatch,
    directory,
    attemptsMax: limits.failoverAttemptsMax,
    clock,
    metrics,
    logger,
  });
  return createRouter({ host, localSurface: () => localSurface.surface, directory, rerouter, metrics, clock, logger });
}

async function createDirectory(
  config: ProxyConfig,
  parts: { client: KubeClient; peers: Destinations; own: OwnRequests; clock: Clock; logger: Logger; metrics: Metrics },
): Promise<RunningPeerDirectory> {
  const { client, peers, own, clock, logger, metrics } = parts;
  const sources: PeerSource[] = [];
  if (config.peerSources.leases) sources.push(new LeaseSource({ client, clock, logger }));
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
        formatHostPort(config.upstream.advertised),
        formatHostPort(config.upstream),
      ],
    },
    memory: await DepartedMemory.open({
      clock,
      logger,
      graceMs: config.departedGraceMs,
      stateDir: config.stateDir,
      ownNames: [config.serverName],
    }),
    timings: { readEveryMs: config.surfaceRefreshMs, goneAfterMs: config.peerGoneAfterMs },
    onReadFailed: (_identity, type) => metrics.discoverySyncErrors.labels(type).inc(),
  });
}

function createOwnLease(
  config: ProxyConfig,
  client: KubeClient,
  port: number,
  { clock, logger }: { clock: Clock; logger: Logger },
): OwnLease {
  return new OwnLease({
    client,
    clock,
    logger,
    serverName: config.serverName,
    advertiseAddress: peerAdvertiseAddress(config, port),
    upstreamAddress: formatHostPort(config.upstream.advertised),
    durationSeconds: config.leaseDurationSeconds,
  });
}

/** The chain, in running order, outermost first. */
function createListener(parts: Parts, state: { draining: boolean }): Listener {
  const { config, clock, logger, metrics, tls, localSurface, directory, router } = parts;
  const { limits } = config;
  const views = new ViewCache(
    { self: config.serverName, local: () => localSurface.surface, peers: () => directory.snapshot() },
    {
      cacheHit: () => metrics.discoveryCacheHits.labels().inc(),
      cacheMiss: () => metrics.discoveryCacheMisses.labels().inc(),
    },
  );
  const fetcher = new DocumentFetcher({
    send: sendTo(parts),
    clock,
    logger,
    onFault: (_server, fault) => metrics.documentFaults.labels(fault).inc(),
  });
  const limiter = new FairLimiter({
    inFlightMax: limits.requestsInFlightMax,
    queueMax: limits.queuedRequestsMax,
    waitMsMax: limits.queueWaitMs,
    clock,
  });
  metrics.registry.collect(() => {
    metrics.inFlight.labels().set(limiter.stats.inFlight);
    metrics.queued.labels().set(limiter.stats.queued);
  });
  const handler = chain(
    [
      observeFilter({ clock, metrics, logger, known: ({ info }) => isKnown(info, parts) }),
      errorsFilter(logger),
      requestInfoFilter,
      identityFilter(
        createAuthenticator({
          ...config.requestHeader,
          clientCa: () => tls.clientCa(),
          requestHeaderCa: () => tls.requestHeaderCa(),
          clock,
        }),
      ),
      ownPagesFilter({
        ...healthChecks(parts, state),
        metrics: () => metrics.registry.render(),
        judge: router,
        nowMs: () => clock.nowMs(),
      }),
      limitsFilter(limiter),
      discoveryFilter({
        active: () => config.peeringActive,
        views,
        legacy: new LegacyDiscovery(new StorageHashReader(fetcher)),
        authorize: permission(clock),
        clock,
        hooks: { nopeer: () => metrics.discoveryNopeer.labels().inc() },
      }),
    ],
    router,
  );
  const listener = new Listener({
    host: config.bindAddress,
    port: config.securePort,
    tls: tls.serving(),
    limits: {
      headerBytesMax: limits.headerBytesMax,
      headersCountMax: limits.headersCountMax,
      headerTimeoutMs: limits.headerTimeoutMs,
      connectionsMax: limits.connectionsMax,
      streamsPerConnectionMax: limits.streamsPerConnectionMax,
      idleMs: IDLE_CONNECTION_MS,
    },
    handler,
    clock,
    logger,
  });
  tls.onServingChange(() => listener.replaceTls(tls.serving()));
  return listener;
}

/** GETs from one server by its identity, this one included; each answers for itself only. */
function sendTo({ config, own, upstream, directory }: Parts): SendTo {
  return async (server, target, headers, onAbort) => {
    if (server === config.serverName) return own.fetchFrom(upstream)(target, headers, onAbort);
    const peer = directory.snapshot().peers.find((each) => each.identity === server);
    const endpoint = peer?.endpoints.find((each) => each.usable());
    if (!endpoint) throw new AttemptError('unsent', 'connect', `${server} cannot be reached at the moment`);
    return own.fetchFrom(endpoint.destination)(target, headers, onAbort);
  };
}

/** Some server is known to serve it. What clients make up must not become labels of metrics. */
function isKnown(info: RequestInfo, { localSurface, directory }: Parts): boolean {
  const local = localSurface.surface;
  return (local !== undefined && serves(local, info)) || directory.snapshot().capable(info).length > 0;
}

function healthChecks(parts: Parts, state: { readonly draining: boolean }): Record<'livez' | 'readyz', HealthCheck[]> {
  const { config, host, localSurface, directory } = parts;
  const canServe = () =>
    host.ready() || directory.snapshot().peers.some((peer) => peer.endpoints.some((e) => e.usable()));
  const readyz: HealthCheck[] = [
    { name: 'shutdown', check: () => (state.draining ? 'shutting down' : 'ok') },
    { name: 'api-server', check: () => (canServe() ? 'ok' : 'neither the local API server nor a peer takes requests') },
  ];
  if (config.peeringActive) {
    readyz.push(
      {
        name: 'local-surface',
        check: () => (localSurface.surface ? 'ok' : "the local server's discovery was not read yet"),
      },
      {
        name: 'peer-directory',
        check: () => (directory.synced() ? 'ok' : 'not every source of peers has answered yet'),
      },
    );
  }
  return { livez: [{ name: 'ping', check: () => 'ok' }], readyz };
}

function fillGauges(parts: Parts, running: RunningPeerDirectory | undefined): void {
  const { metrics, host, localSurface, clock, config } = parts;
  const gate = config.featureGates.UnknownVersionInteroperabilityProxy;
  metrics.featureEnabled.labels('UnknownVersionInteroperabilityProxy', 'BETA').set(gate ? 1 : 0);
  metrics.registry.collect(() => {
    metrics.hostReady.labels().set(host.ready() ? 1 : 0);
    for (const gauge of [metrics.peerInFlight, metrics.peerUsable, metrics.surfaceAgeSeconds]) gauge.reset();
    if (localSurface.surface) {
      metrics.surfaceAgeSeconds.labels(config.serverName).set((clock.nowMs() - localSurface.confirmedAtMs) / 1000);
    }
    const described = running?.describe();
    metrics.departedServers.labels().set(described?.departed.length ?? 0);
    for (const peer of described?.peers ?? []) {
      if (peer.surfaceAgeMs !== undefined)
        metrics.surfaceAgeSeconds.labels(peer.identity).set(peer.surfaceAgeMs / 1000);
      for (const { address, kind, usable, inFlight } of peer.endpoints) {
        metrics.peerInFlight.labels(peer.identity, address).set(inFlight);
        metrics.peerUsable.labels(peer.identity, address, kind).set(usable ? 1 : 0);
      }
    }
  });
}

interface Stoppable {
  readonly listener: Listener;
  readonly running: RunningPeerDirectory | undefined;
  readonly lease: OwnLease | undefined;
  readonly state: { draining: boolean };
  readonly address: string;
  readonly port: number;
}

function runningServer(parts: Parts, stoppable: Stoppable): RunningServer {
  let finished: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    finished = resolve;
  });
  let closing: Promise<void> | undefined;
  return {
    address: stoppable.address,
    port: stoppable.port,
    close: () => {
      closing ??= stop(parts, stoppable).then(finished);
      return closing;
    },
    closed,
  };
}

/** Says that it goes (health, lease), lets requests end, then takes the rest down from the outside in. */
async function stop(parts: Parts, { listener, running, lease, state }: Stoppable): Promise<void> {
  const { config, host, localSurface, tls, logger } = parts;
  state.draining = true;
  logger.info('shutting down');
  if (config.shutdownDelayMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, config.shutdownDelayMs));
  await Promise.all([lease?.close(), listener.close(config.shutdownGraceMs)]);
  localSurface.close();
  await running?.close();
  await host.close();
  tls.close();
}

function kubeSend(config: ProxyConfig, routed: { readonly handler: Handler }, clock: Clock): KubeSend {
  const access = config.kubeconfig;
  if (!access)
    return sendThrough(
      () => routed.handler,
      () => clock.nowMs(),
    );
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
  return sendDirectly({
    destination,
    basePath: server.pathname.replace(/\/$/, ''),
    hasCertificate: access.clientCert !== undefined,
    token: access.token,
    tokenFile: access.tokenFile,
  });
}

function loadTls(config: ProxyConfig, clock: Clock, logger: Logger): Promise<ProxyTls> {
  return ProxyTls.load(
    {
      serving: { certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile },
      frontProxy: config.frontProxyCertificate,
      clientCaFile: config.clientCaFile,
      requestHeaderCaFile: config.requestHeader.clientCaFile,
      peerCaFile: config.peerCaFile,
      peerServerName: config.peerServerName,
      upstreamCaFile: config.upstream.caFile,
      upstreamServerName: config.upstream.serverName,
    },
    { logger, clock },
  );
}

function listenError(error: NodeJS.ErrnoException, config: ProxyConfig): Error {
  const where = formatHostPort({ host: config.bindAddress, port: config.securePort });
  if (error.code === 'EADDRINUSE') {
    return new Error(`${where} is in use by another process; stop it, or choose another --secure-port.`);
  }
  if (error.code === 'EACCES')
    return new Error(`This user may not listen on ${where}; choose a --secure-port above 1023.`);
  if (error.code === 'EADDRNOTAVAIL')
    return new Error(`This machine has no address ${config.bindAddress}; check --bind-address.`);
  return new Error(`Cannot listen on ${where}: ${error.message}`);
}
