import { formatHostPort } from '../base/address.js';
import { startTimer } from '../base/clock.js';
import { AttemptError } from '../http/attempt-error.js';
import type { Handler } from '../http/exchange.js';
import type { Surface } from '../kube/surface.js';
import type { Host } from '../proxy/hosts/host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import type { PeerDirectory, PeerTable } from '../proxy/peers/peer-table.js';
import { createPeerDispatch } from '../proxy/routing/peer-dispatch.js';
import { Rerouter } from '../proxy/routing/reroute.js';
import { createRouter } from '../proxy/routing/router.js';
import type { ClientSide, Front } from './client-side.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView, ViewedServer } from './control-plane-view.js';
import { fillProcessGauges } from './health.js';
import type { ProgramSurroundings } from './program-surroundings.js';
import type { Parts } from './server-parts.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** Drains and stops; resolves when all is closed. */
  close(): Promise<void>;
  /** Resolves when the server has ended, by `close` or without it. Never rejects. */
  readonly closed: Promise<void>;
}

/** A server among several in one process. */
export interface InProcessServer extends RunningServer {
  /** Ends as a killed process does: without notice to peers, drain or further writes. */
  abort(): Promise<void>;
  /** The local surface; undefined until it has been read. */
  surface(): Surface | undefined;
  /** The other servers, as this one sees them. */
  readonly directory: PeerDirectory;
}

export interface ServerSurroundings extends ProgramSurroundings {
  /**
   * Makes the server behind the chain. The host reads the surface anew when its server is ready again, because that may
   * be another version. `peers` may be called once the server runs.
   */
  makeHost(surface: { readAnew(): Promise<void> }, peers: () => PeerTable): Host;
  /** Makes the view of the control plane. */
  makeView(server: ViewedServer): Promise<ControlPlaneView>;
  /** Makes the side that clients connect to. */
  readonly makeFront: (parts: Parts, state: { draining: boolean }) => Front;
  /** Makes the clients of the whole control plane that run inside this server; undefined for none. */
  readonly makeControllers?: (within: WithinServer) => RunningControllers;
}

/** The server as its internal clients use it. */
export interface WithinServer {
  /** Merged discovery and routing. The identity of an exchange is trusted. */
  readonly handler: Handler;
  readonly directory: PeerDirectory;
  /** Returns whether the surfaces of this server and of its peers have been read. */
  readonly isReady: () => boolean;
}

export interface RunningControllers {
  start(): void;
  close(): Promise<void>;
}

/** Runs the chain before a host. Rejects, with nothing left running, if it cannot start. */
export async function startServer(config: ServerConfig, surroundings: ServerSurroundings): Promise<InProcessServer> {
  const { clock, logger, metrics, tls, straddleRequests } = surroundings;
  const host = surroundings.makeHost(
    {
      readAnew: async () => {
        if (config.peeringActive) await view.local.readAnew();
      },
    },
    () => view.directory.snapshot(),
  );
  // The view sends requests through the router, and the router reads the view: the one cycle in the whole.
  let routed: Handler = () => Promise.reject(new AttemptError('unsent', 'starting', 'starting'));
  const router: Handler = (exchange) => routed(exchange);
  const view = await surroundings.makeView({ host, router });
  routed = createRouterOf({ config, clock, logger, metrics, host, view });

  tls.onOutgoingChange(() => host.renew());
  const parts: Parts = { config, clock, logger, metrics, tls, straddleRequests, host, view, router: routed };
  const state = { draining: false };
  const { listener, inner } = surroundings.makeFront(parts, state);
  const controllers = surroundings.makeControllers?.({
    handler: inner,
    directory: view.directory,
    isReady: () => host.ready() && view.local.surface !== undefined && view.directory.synced(),
  });
  const bound = await listener.listen().catch((error: NodeJS.ErrnoException) => {
    tls.close();
    throw listenError(error, config);
  });
  fillProcessGauges(parts);

  try {
    await host.start();
  } catch (error) {
    await stop(parts, { listener, state, controllers });
    throw error;
  }
  await view.start(bound.port);
  controllers?.start();

  const { address, port } = bound;
  return runningServer(parts, { listener, state, controllers, address, port });
}

function createRouterOf(parts: Omit<Parts, 'tls' | 'straddleRequests' | 'router'>): Handler {
  const { config, clock, logger, metrics, host, view } = parts;
  const { local, directory } = view;
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
  const rerouter = new Rerouter({ dispatch, directory, attemptsMax: limits.failoverAttemptsMax, metrics, logger });
  return createRouter({
    host,
    localSurface: () => local.surface,
    refreshLocal: () => local.refresh(),
    directory,
    rerouter,
    rerouteUnknownOptions: config.rerouteUnknownOptions,
    metrics,
    clock,
    logger,
  });
}

interface Stoppable {
  readonly listener: ClientSide;
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
  const close = (): Promise<void> => {
    closing ??= stop(parts, stoppable).finally(finished);
    return closing;
  };
  return {
    address: stoppable.address,
    port: stoppable.port,
    close,
    abort: () => {
      parts.host.sever?.();
      stoppable.listener.destroy();
      return close();
    },
    closed,
    surface: () => parts.view.local.surface,
    directory: parts.view.directory,
  };
}

/** Announces the stop (health, lease), lets requests end, then closes the rest from the outside in. */
async function stop(parts: Parts, { listener, state, controllers }: Stoppable): Promise<void> {
  const { config, host, view, tls, logger } = parts;
  state.draining = true;
  logger.info('shutting down');
  await controllers?.close();
  if (config.shutdownDelayMs > 0) await delay(config.shutdownDelayMs);
  await Promise.all([view.withdraw(), listener.close(config.shutdownGraceMs)]);
  await view.close();
  await host.close();
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
