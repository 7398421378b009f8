import type { AddressInfo } from 'node:net';
import { formatHostPort } from '../base/address.js';
import { startTimer } from '../base/clock.js';
import { AttemptError } from '../http/attempt-error.js';
import type { Exchange, Handler } from '../http/exchange.js';
import type { Surface } from '../kube/surface.js';
import type { Host } from '../proxy/hosts/host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import type { Page } from '../proxy/page/page.js';
import type { Passthrough } from '../proxy/passthrough/passthrough.js';
import type { PeerDirectory, PeerTable } from '../proxy/peers/peer-table.js';
import { Alternatives } from '../proxy/routing/alternatives.js';
import { createLocalOnly } from '../proxy/routing/local-only.js';
import { createPeerDispatch } from '../proxy/routing/peer-dispatch.js';
import { Rerouter } from '../proxy/routing/reroute.js';
import { createRouter, servesNow } from '../proxy/routing/router.js';
import type { ClientSide, Front } from './client-side.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView, ViewedServer } from './control-plane-view.js';
import { fillProcessGauges } from './health.js';
import type { ProgramSurroundings } from './program-surroundings.js';
import type { PageParts, Parts } from './server-parts.js';

export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** The kubeconfig that was written when the server was ready; undefined for none. */
  readonly kubeconfig?: string | undefined;
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
  /** The panic switch. Closed with the server. */
  readonly passthrough: Passthrough;
  /** Makes the server behind the chain. */
  makeHost(surface: HostedSurface, among: HostedAmongPeers): Host;
  /** Makes the view of the control plane. */
  makeView(server: ViewedServer): Promise<ControlPlaneView>;
  /** Makes the page of this process. */
  readonly makePage: (parts: PageParts) => Page;
  /** Makes the side that clients connect to. */
  readonly makeFront: (parts: Parts, state: { draining: boolean }) => Front;
  /** Makes the clients of the whole control plane that run inside this server; undefined for none. */
  readonly makeControllers?: (within: WithinServer) => RunningControllers;
}

/** The surface of the server behind the chain, for the host of that server. */
export interface HostedSurface {
  /** Reads it when the server is ready again, because that may be another version. Rejects if it cannot be read. */
  readAnew(): Promise<void>;
  /** Returns whether requests are routed by it now. While passthrough is on they are not, whether it was read or not. */
  isRoutedBy(): boolean;
}

/** The other servers, for the host of this one. Its functions may be called once the server runs. */
export interface HostedAmongPeers {
  readonly peers: () => PeerTable;
  /** Returns whether a peer could take an exchange now that waits for the server behind the chain. */
  readonly hasAlternative: (exchange: Exchange) => boolean;
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
  const { tls, passthrough } = surroundings;
  const { parts, bound, ...stoppable } = await listenWith(config, surroundings).catch(async (error: unknown) => {
    tls.close();
    await passthrough.close();
    throw error;
  });
  const { host, view, page } = parts;
  fillProcessGauges(parts);

  try {
    await host.start();
  } catch (error) {
    await stop(parts, stoppable);
    throw error;
  }
  await view.start(bound.port);
  page.start();
  stoppable.controllers?.start();

  const { address, port } = bound;
  return runningServer(parts, { ...stoppable, address, port });
}

/** Makes the parts of a server, and listens. Rejects without closing the surroundings. */
async function listenWith(
  config: ServerConfig,
  surroundings: ServerSurroundings,
): Promise<Stoppable & { readonly parts: Parts; readonly bound: AddressInfo }> {
  const { clock, logger, metrics, tls, straddleRequests, passthrough } = surroundings;
  const host = surroundings.makeHost(
    {
      readAnew: async () => {
        if (config.peeringActive) await view.local.readAnew();
      },
      isRoutedBy: () => !passthrough.state.on,
    },
    {
      peers: () => view.directory.snapshot(),
      // While passthrough is on, no request goes elsewhere.
      hasAlternative: (exchange) => !passthrough.state.on && alternatives.toLocal(exchange),
    },
  );
  const alternatives = new Alternatives({
    directory: () => view.directory,
    localServes: (exchange) => servesNow(host, view.local.surface, exchange),
  });
  // The view sends requests through the router, and the router reads the view: the one cycle in the whole.
  let routed: Handler = () => Promise.reject(new AttemptError('unsent', 'starting', 'starting'));
  const router: Handler = (exchange) => routed(exchange);
  const view = await surroundings.makeView({ host, router });
  routed = createRouterOf({ config, clock, logger, metrics, host, view, passthrough, alternatives });

  tls.onOutgoingChange(() => host.renew());
  const localOnly = createLocalOnly(host);
  const program = { config, clock, logger, metrics, tls, straddleRequests };
  const state = { draining: false };
  const behind = { ...program, host, view, passthrough, router: routed, localOnly };
  const page = surroundings.makePage({ ...behind, isDraining: () => state.draining });
  const parts: Parts = { ...behind, page };
  const { listener, inner } = surroundings.makeFront(parts, state);
  const controllers = surroundings.makeControllers?.({
    handler: inner,
    directory: view.directory,
    isReady: () => host.ready() && view.local.surface !== undefined && view.directory.synced(),
  });
  const bound = await listener.listen().catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, config);
  });
  return { parts, listener, state, controllers, bound };
}

type RouterParts = Omit<Parts, 'tls' | 'straddleRequests' | 'router' | 'localOnly' | 'page'> & {
  readonly alternatives: Alternatives;
};

function createRouterOf(parts: RouterParts): Handler {
  const { config, clock, logger, metrics, host, view, passthrough, alternatives } = parts;
  const { local, directory } = view;
  const { limits } = config;
  const dispatch = createPeerDispatch({
    outgoingHeaders: createOutgoingHeaders(config.requestHeader),
    headTimeoutMs: limits.requestTimeoutMs,
    hasAlternative: (exchange, peer) => alternatives.toPeer(exchange, peer),
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
    mayContinue: () => !passthrough.state.on,
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
  const { config, host, view, tls, logger, passthrough, page } = parts;
  state.draining = true;
  logger.info('shutting down');
  await controllers?.close();
  if (config.shutdownDelayMs > 0) await delay(config.shutdownDelayMs);
  page.drain();
  await Promise.all([view.withdraw(), listener.close(config.shutdownGraceMs)]);
  page.close();
  await view.close();
  await host.close();
  await passthrough.close();
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
