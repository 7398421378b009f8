import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metrics } from '../base/metric-catalogue.js';
import { AttemptError, type Host } from '../core/host.js';
import type { Exchange, Handler, Reply } from '../http/exchange.js';
import { gatherSmallBody } from '../http/gather-body.js';
import { StatusError } from '../kube/status-error.js';
import { serves } from '../kube/surface.js';
import type { PeerDirectory, PeerTable } from '../proxy/peers/peer-table.js';
import { canSendAgain, describe, mayMoveOn, type Rerouter, unavailable } from '../proxy/routing/reroute.js';
import { type LocalServer, type Route, route } from '../proxy/routing/route.js';
import { createWatchContinuation } from '../proxy/routing/watch-continuation.js';
import { markNotTaken } from './not-taken.js';
import { discard, refusalAtHand, saysUnknownResource } from './unknown-resource.js';

export interface RouterOptions {
  readonly host: Host;
  readonly localSurface: () => LocalServer['surface'];
  /** The local server's answer did not fit its surface: read it again now. Never rejects. */
  readonly refreshLocal: () => Promise<void>;
  readonly directory: PeerDirectory;
  readonly rerouter: Rerouter;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A peer's surface can be out of date once; if it is again after a fresh reading, waiting helps more than a third try. */
const STALE_ROUTES_MAX = 2;

/** Answers each request from the local host or from a peer; a watch that a peer serves outlives that peer. */
export function createRouter(options: RouterOptions): Handler {
  const { host, rerouter } = options;
  const answer = createAnswer(options);
  const servedBy = (reply: Reply) => rerouter.servedBy(reply);
  const followWatch = createWatchContinuation({ ...options, answer, servedBy, hostReady: () => host.ready() });

  const answerWatch: Handler = async (exchange) => {
    const reply = await answer(exchange);
    return servedBy(reply) ? followWatch(exchange, reply) : reply;
  };
  return (exchange) => (exchange.info.verb === 'watch' ? answerWatch(exchange) : answer(exchange));
}

function createAnswer(options: RouterOptions): Handler {
  const { host, localSurface, directory, metrics } = options;

  return async (exchange) => {
    if (exchange.body && !host.readsBodies) await gatherSmallBody(exchange);
    if (exchange.peerProxied || exchange.localOnly) return serveHere(options, exchange);

    for (let turn = 0; turn <= STALE_ROUTES_MAX; turn++) {
      const table = directory.snapshot();
      const local = { surface: localSurface(), ready: host.ready() };
      const way = route(exchange.info, local, table);
      if (way.kind === 'local') {
        const reply = await serveLocally(options, exchange, way.why);
        if (!isDoubtful(exchange, reply, local) || (await stillSame(options, local))) return reply;
        discard(reply);
        continue;
      }
      if (way.kind === 'unavailable') throw refuse(exchange, way.why, metrics, local);
      if (exchange.body) await gatherSmallBody(exchange);
      const reply = await rerouteTo(options, exchange, way, local);
      if (reply !== 'stale') return reply;
    }
    throw unavailable(exchange, [], ['what the servers serve is changing']);
  };
}

/**
 * A local "I do not know this resource" for something on the local surface: the server has changed since that was read
 * (restarted as another version, a CRD deleted). With a new surface the request is routed anew; else the answer stands.
 */
function isDoubtful(exchange: Exchange, reply: Reply, local: LocalServer): boolean {
  if (!saysUnknownResource(exchange, reply) || !local.surface || !serves(local.surface, exchange.info)) return false;
  return canSendAgain(exchange);
}

async function stillSame({ localSurface, refreshLocal }: RouterOptions, local: LocalServer): Promise<boolean> {
  await refreshLocal();
  return localSurface() === local.surface;
}

/** Carried here by a peer, or this server's own view is asked for: no further hop, and no wrong 404 either. */
async function serveHere({ host }: RouterOptions, exchange: Exchange): Promise<Reply> {
  if (!host.ready()) throw markNotTaken(unavailable(exchange, [], ['the local server is down']));
  try {
    const reply = await refusalAtHand(exchange, await host.handle(exchange));
    if (!exchange.peerProxied || !saysUnknownResource(exchange, reply)) return reply;
    discard(reply);
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    const refusal = unavailable(exchange, [], [error.message]);
    throw error.processed === 'unsent' ? markNotTaken(refusal) : refusal;
  }
  throw new StatusError('ServiceUnavailable', `${describe(exchange)} was sent here by a peer but is not served here`);
}

async function rerouteTo(
  { rerouter, metrics }: RouterOptions,
  exchange: Exchange,
  way: Extract<Route, { kind: 'reroute' }>,
  local: LocalServer,
): Promise<Reply | 'stale'> {
  const reply = await rerouter.reroute(exchange, way.peers, way.why);
  if (reply !== 'stale' && exchange.info.isResource && local.ready) metrics.wrong404sPrevented.labels('rerouted').inc();
  return reply;
}

function refuse(exchange: Exchange, why: string, metrics: Metrics, local: LocalServer): StatusError {
  if (exchange.info.isResource && local.ready) metrics.wrong404sPrevented.labels('held-back').inc();
  return new StatusError('ServiceUnavailable', `${describe(exchange)} cannot be served right now: ${why}`);
}

/** The local host first; a request that it could not take goes to a capable peer where that is safe. */
async function serveLocally(options: RouterOptions, exchange: Exchange, why: string): Promise<Reply> {
  const { host, metrics } = options;
  try {
    const came = refusalAtHand(exchange, await host.handle(exchange));
    // Awaiting costs something even where there is nothing to wait for.
    const reply = came instanceof Promise ? await came : came;
    exchange.routed = { to: 'local', why };
    return reply;
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    if (exchange.aborted || !mayMoveOn(exchange, error)) throw unavailable(exchange, [], [error.message]);
    metrics.failovers.labels('local', error.type).inc();
    return afterLocalFailure(options, exchange, error);
  }
}

async function afterLocalFailure(options: RouterOptions, exchange: Exchange, error: AttemptError): Promise<Reply> {
  const { host, rerouter, directory } = options;
  const peers = capablePeers(exchange, directory.snapshot());
  if (peers.length > 0) {
    const reply = await rerouter.reroute(exchange, peers, 'the local server did not answer');
    if (reply !== 'stale') return reply;
  } else if (host.ready()) {
    // A connection that the server had just closed is no reason to give up when it still takes requests.
    try {
      return await host.handle(exchange);
    } catch (again) {
      if (!(again instanceof AttemptError)) throw again;
    }
  }
  throw unavailable(exchange, peers, [error.message]);
}

function capablePeers(exchange: Exchange, table: PeerTable) {
  return exchange.info.isResource ? table.capable(exchange.info) : table.peers;
}
