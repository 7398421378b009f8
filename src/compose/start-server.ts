import { type Clock, startTimer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import { AttemptError } from '../core/host.js';
import { Destinations } from '../http/client/destinations.js';
import type { Handler } from '../http/exchange.js';
import type { ProxyTls } from '../http/tls/proxy-tls.js';
import { KubeClient } from '../kube/client/kube-client.js';
import type { Surface } from '../kube/surface.js';
import { noPeers } from '../peers/no-peers.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import { type KnownSurface, LocalSurface } from '../proxy/peers/local-surface.js';
import type { RunningPeerDirectory } from '../proxy/peers/peer-directory.js';
import type { PeerDirectory, PeerTable } from '../proxy/peers/peer-table.js';
import type { OwnLease } from '../proxy/peers/straddle-lease.js';
import { SurfaceReader } from '../proxy/peers/surface-reader.js';
import { createPeerDispatch } from '../proxy/routing/peer-dispatch.js';
import { Rerouter } from '../proxy/routing/reroute.js';
import { createRouter } from '../routing/router.js';
import type { OwnRequests } from '../transport/own-requests.js';
import type { Reach } from '../transport/reach.js';
import { formatHostPort } from './config/addresses.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ServerConfig } from './config/server-config.js';
import type { GroupRole } from './group-role.js';
import { fillGauges, fillOwnGauges } from './health.js';
import { type ClientSide, createListener } from './listener.js';
import type { Backing, Parts } from './parts.js';
import { createDirectory, createOwnLease, kubeSend, type OwnSend } from './peering.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** Drains and stops; resolves when all is closed. */
  close(): Promise<void>;
  readonly closed: Promise<void>;
}

/** For whoever runs several in one process. */
export interface InProcessServer extends RunningServer {
  /** Ends as a killed process does: nobody is told, nothing is drained, nothing more is stored. Resolves when all is closed. */
  abort(): Promise<void>;
  /** What this server itself serves; undefined until it is known. */
  surface(): Surface | undefined;
  /** The other servers, as this one sees them. */
  readonly directory: PeerDirectory;
}

export interface ServerSurroundings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tls: ProxyTls;
  readonly own: OwnRequests;
  /** Straddle's own identity towards the API, where it has one apart. */
  readonly kubeconfig: ProxyConfig['kubeconfig'];
  /**
   * The surface is told to the host's maker too: a host that comes back may be another version. `peers` is for use once
   * the server runs.
   */
  makeBacking(surface: { readAnew(): Promise<void> }, peers: () => PeerTable): Backing;
  /** What runs inside this server as a client of the whole control plane; undefined for nothing. */
  readonly makeControllers?: (within: WithinServer) => RunningControllers;
  /** How peers are reached, where that is not simply the network. */
  readonly reach?: Reach | undefined;
  /** Where several processes serve as one: what this one does of it. */
  readonly role?: GroupRole | undefined;
}

/** What a client inside the server needs of it. */
export interface WithinServer {
  /** Merged discovery and routing; whoever asks is believed. */
  readonly handler: Handler;
  readonly directory: PeerDirectory;
  /** This server and its peers are known. */
  readonly isReady: () => boolean;
}

export interface RunningControllers {
  start(): void;
  close(): Promise<void>;
}

/** Runs the chain before whatever stands behind it. Rejects, with nothing left running, when it cannot. */
export async function startServer(config: ServerConfig, surroundings: ServerSurroundings): Promise<InProcessServer> {
  const { clock, logger, metrics, tls, own, role } = surroundings;
  // In a worker: what the head has found out for all of them.
  const known = role?.known;
  if (config.peeringInactiveReason && !known) logger.warn(config.peeringInactiveReason);
  const readAnew = async (): Promise<void> => {
    if (config.peeringActive) await localSurface.readAnew();
  };
  const backing = surroundings.makeBacking({ readAnew }, () => directory.snapshot());
  const localSurface: KnownSurface =
    known?.surface ??
    new LocalSurface({
      reader: new SurfaceReader({ fetch: backing.fetchLocal, clock }),
      readEveryMs: config.surfaceRefreshMs,
      hostReady: () => backing.host.ready(),
      clock,
      logger,
      onReadFailed: () => metrics.discoverySyncErrors.labels('local').inc(),
    });

  // The directory asks through the router and the router asks the directory: the one knot in the whole.
  const routed: { handler: Handler } = {
    handler: () => Promise.reject(new AttemptError('unsent', 'starting', 'starting')),
  };
  const ownSend = kubeSend(surroundings.kubeconfig, routed, clock);
  const client = new KubeClient({ send: ownSend.send, clock });
  const peers = new Destinations(() => tls.peerTls(), surroundings.reach);
  const running = config.peeringActive
    ? (known?.directory ??
      (await createDirectory(config, {
        ...{ backing, localSurface, client, peers, own, clock, logger, metrics },
        health: role?.health,
      })))
    : undefined;
  const directory: PeerDirectory = running ?? noPeers();
  routed.handler = createRouterOf({ config, clock, logger, metrics, backing, localSurface, directory });

  tls.onOutgoingChange(() => {
    backing.renew();
    peers.renew();
  });
  const parts: Parts = {
    config,
    clock,
    logger,
    metrics,
    tls,
    own,
    backing,
    localSurface,
    directory,
    router: routed.handler,
  };
  const state = { draining: false };
  const { listener, inner } = (role?.makeFront ?? createListener)(parts, state);
  const controllers = surroundings.makeControllers?.({
    handler: inner,
    directory,
    isReady: () => backing.host.ready() && localSurface.surface !== undefined && directory.synced(),
  });
  const bound = await listener.listen().catch((error: NodeJS.ErrnoException) => {
    tls.close();
    throw listenError(error, config);
  });
  const lease = running && !known ? createOwnLease(config, client, bound.port, { backing, clock, logger }) : undefined;
  if (!known) fillGauges(parts, running);
  fillOwnGauges(parts, running);

  try {
    await backing.start();
  } catch (error) {
    await stop(parts, { listener, running, lease, ownSend, state, controllers });
    throw error;
  }
  await localSurface.start();
  backing.onSurfaceChange?.(() => void localSurface.refresh());
  running?.start();
  void lease?.start();
  controllers?.start();

  const { address, port } = bound;
  return runningServer(parts, { listener, running, lease, ownSend, state, controllers, address, port });
}

function createRouterOf(parts: Omit<Parts, 'tls' | 'own' | 'router'>): Handler {
  const { config, clock, logger, metrics, backing, localSurface, directory } = parts;
  const { limits } = config;
  const dispatch = createPeerDispatch({
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    headTimeoutMs: limits.requestTimeoutMs,
    limits: {
      heldMax: limits.requestsInFlightPerPeerMax,
      heldPerGroupMax: limits.requestsInFlightPerUserMax,
      queueMax: limits.queuedRequestsMax,
      waitMsMax: limits.queueWaitMs,
      clock,
      onRefused: () => metrics.limitHits.labels('max-requests-in-flight-per-peer').inc(),
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
    host: backing.host,
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
  readonly listener: ClientSide;
  readonly running: RunningPeerDirectory | undefined;
  readonly lease: OwnLease | undefined;
  readonly ownSend: OwnSend;
  readonly state: { draining: boolean };
  readonly controllers: RunningControllers | undefined;
}

function runningServer(
  parts: Parts,
  stoppable: Stoppable & { readonly address: string; readonly port: number },
): InProcessServer {
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
    abort: () => {
      parts.backing.sever?.();
      stoppable.listener.destroy();
      closing ??= stop(parts, stoppable).finally(finished);
      return closing;
    },
    closed,
    surface: () => parts.localSurface.surface,
    directory: parts.directory,
  };
}

/** Says that it goes (health, lease), lets requests end, then takes the rest down from the outside in. */
async function stop(parts: Parts, { listener, running, lease, ownSend, state, controllers }: Stoppable): Promise<void> {
  const { config, backing, localSurface, tls, logger } = parts;
  state.draining = true;
  logger.info('shutting down');
  await controllers?.close();
  if (config.shutdownDelayMs > 0) await delay(config.shutdownDelayMs);
  await Promise.all([lease?.close(), listener.close(config.shutdownGraceMs)]);
  localSurface.close();
  await running?.close();
  await ownSend.close();
  await backing.host.close();
  tls.close();
}

function delay(delayMs: number): Promise<void> {
  return new Promise((resolve) => void startTimer(delayMs, resolve, { keepsAlive: true }));
}

function listenError(error: NodeJS.ErrnoException, config: ServerConfig): Error {
  const where = formatHostPort({ host: config.bindAddress, port: config.securePort });
  if (error.code === 'EADDRINUSE') {
    return new Error(`${where} is in use by another process; stop it, or choose another --secure-port.`, {
      cause: error,
    });
  }
  if (error.code === 'EACCES')
    return new Error(`This user may not listen on ${where}; choose a --secure-port above 1023.`);
  if (error.code === 'EADDRNOTAVAIL')
    return new Error(`This machine has no address ${config.bindAddress}; check --bind-address.`);
  return new Error(`Cannot listen on ${where}: ${error.message}`);
}
