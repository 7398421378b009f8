import { fillGauges } from './compose/health.js';
import { createListener } from './compose/listener.js';
import type { Parts } from './compose/parts.js';
import { createDirectory, createOwnLease, kubeSend, type OwnSend } from './compose/peering.js';
import { formatHostPort } from './config/addresses.js';
import type { ProxyConfig } from './config/proxy-config.js';
import { type Clock, systemClock } from './core/clock.js';
import type { Handler } from './core/exchange.js';
import { AttemptError } from './core/host.js';
import type { Destination } from './core/outgoing.js';
import { UpstreamHost } from './hosts/upstream/upstream-host.js';
import { createOutgoingHeaders } from './identity/outgoing-headers.js';
import { createMetrics } from './observe/catalogue.js';
import type { Logger } from './observe/logger.js';
import { KubeClient } from './peers/kube-client.js';
import { LocalSurface } from './peers/local-surface.js';
import { noPeers } from './peers/no-peers.js';
import type { OwnLease } from './peers/own-lease.js';
import type { RunningPeerDirectory } from './peers/peer-directory.js';
import type { PeerDirectory } from './peers/peer-table.js';
import { SurfaceReader } from './peers/surface-reader.js';
import { createPeerDispatch } from './routing/peer-dispatch.js';
import { Rerouter } from './routing/reroute.js';
import { createRouter } from './routing/router.js';
import type { Listener } from './server/listener.js';
import { Destinations } from './transport/destinations.js';
import { OwnRequests } from './transport/own-requests.js';
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
  const host = createHost(config, upstream, own, {
    clock,
    logger,
    beforeReady: async () => {
      if (config.peeringActive) await localSurface.readAnew();
    },
  });
  const localSurface = new LocalSurface({
    reader: new SurfaceReader({ fetch: own.fetchFrom(upstream), clock }),
    readEveryMs: config.surfaceRefreshMs,
    hostReady: () => host.ready(),
    clock,
    logger,
    onReadFailed: () => metrics.discoverySyncErrors.labels('local').inc(),
  });

  // The directory asks through the router and the router asks the directory: the one knot in the whole.
  const routed: { handler: Handler } = {
    handler: () => Promise.reject(new AttemptError('unsent', 'starting', 'starting')),
  };
  const ownSend = kubeSend(config, routed, clock);
  const client = new KubeClient({ send: ownSend.send, clock });
  const peers = new Destinations(() => tls.peerTls());
  const running = config.peeringActive
    ? await createDirectory(config, { host, localSurface, client, peers, own, clock, logger, metrics })
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

  return runningServer(parts, { listener, running, lease, ownSend, state, address: bound.address, port: bound.port });
}

function createHost(
  config: ProxyConfig,
  destination: Destination,
  own: OwnRequests,
  { clock, logger, beforeReady }: { clock: Clock; logger: Logger; beforeReady: () => Promise<void> },
): UpstreamHost {
  return new UpstreamHost({
    destination,
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    probe: () => own.probeReady(destination, PROBE_TIMEOUT_MS),
    beforeReady,
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
    metrics,
    logger,
  });
  return createRouter({
    host,
    localSurface: () => localSurface.surface,
    refreshLocal: () => localSurface.refresh(),
    directory,
    rerouter,
    metrics,
    clock,
    logger,
  });
}

interface Stoppable {
  readonly listener: Listener;
  readonly running: RunningPeerDirectory | undefined;
  readonly lease: OwnLease | undefined;
  readonly ownSend: OwnSend;
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
      closing ??= stop(parts, stoppable).finally(finished);
      return closing;
    },
    closed,
  };
}

/** Says that it goes (health, lease), lets requests end, then takes the rest down from the outside in. */
async function stop(parts: Parts, { listener, running, lease, ownSend, state }: Stoppable): Promise<void> {
  const { config, host, localSurface, tls, logger } = parts;
  state.draining = true;
  logger.info('shutting down');
  if (config.shutdownDelayMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, config.shutdownDelayMs));
  await Promise.all([lease?.close(), listener.close(config.shutdownGraceMs)]);
  localSurface.close();
  await running?.close();
  await ownSend.close();
  await host.close();
  tls.close();
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
