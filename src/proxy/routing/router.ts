import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import { isPending } from '../../base/pending.js';
import { AttemptError } from '../../http/attempt-error.js';
import { discard } from '../../http/discard.js';
import type { Exchange, Handler, Reply } from '../../http/exchange.js';
import { gatherSmallBody } from '../../http/gather-body.js';
import { canSendAgain, mayMoveOn } from '../../http/send-again.js';
import { StatusError } from '../../kube/status-error.js';
import { serves } from '../../kube/surface.js';
import type { PeerDirectory } from '../peers/peer-table.js';
import { classifyReply, withRefusalRead } from './classify-reply.js';
import { markNotTaken } from './not-taken.js';
import {
  capablePeers,
  describe,
  type LastResort,
  type RerouteOutcome,
  type Rerouter,
  type ServedReply,
  unavailable,
} from './reroute.js';
import { type LocalServer, type Route, route } from './route.js';
import type { Candidate } from './select-endpoint.js';
import { createWatchContinuation } from './watch-continuation.js';

/** The server behind this process, as far as routing needs it. */
export interface LocalHost {
  /** Answers a request, or rejects with AttemptError if the server could not. */
  readonly handle: Handler;
  /** True where the host reads request bodies itself, after authorization; they are then not gathered before. */
  readonly readsBodies: boolean;
  /** Whether a request may be sent there now. Cheap. */
  ready(): boolean;
}

export interface RouterOptions {
  readonly host: LocalHost;
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
  const { host } = options;
  const answer = createAnswer(options, (reply) => reply);
  const answerFrom = createAnswer(options, (reply, from): ServedReply => ({ reply, from }));
  const followWatch = createWatchContinuation({ ...options, answer: answerFrom, hostReady: () => host.ready() });

  const answerWatch: Handler = async (exchange) => {
    const served = await answerFrom(exchange);
    return served.from ? followWatch(exchange, served) : served.reply;
  };
  return (exchange) => (exchange.info.verb === 'watch' ? answerWatch(exchange) : answer(exchange));
}

/**
 * Answers by the rules for any request. `toResult` makes the result of a reply and of the peer that it came from: only
 * watches need to know that peer, and no other request shall pay for it.
 */
function createAnswer<Result>(
  options: RouterOptions,
  toResult: (reply: Reply, from: Candidate | undefined) => Result,
): (exchange: Exchange) => Promise<Result> {
  const { host, localSurface, directory, metrics } = options;

  return async (exchange) => {
    if (exchange.body && !host.readsBodies) await gatherSmallBody(exchange);
    if (exchange.peerProxied || exchange.localOnly) return toResult(await serveHere(options, exchange), undefined);

    for (let turn = 0; turn <= STALE_ROUTES_MAX; turn++) {
      const table = directory.snapshot();
      const local = { surface: localSurface(), ready: host.ready() };
      const way = route(exchange.info, local, table);
      if (way.kind === 'local') {
        let reply: Reply;
        let from: Candidate | undefined;
        try {
          const came = localAnswer(exchange, await host.handle(exchange), way.why);
          reply = isPending(came) ? await came : came;
        } catch (error) {
          ({ reply, from } = await afterLocalFailure(options, exchange, error));
        }
        if (!isDoubtful(exchange, reply, local) || (await stillSame(options, local))) return toResult(reply, from);
        discard(reply);
        continue;
      }
      if (way.kind === 'unavailable') throw refuse(exchange, way.why, metrics, local);
      if (exchange.body) await gatherSmallBody(exchange);
      const outcome = await rerouteTo(options, exchange, way, local);
      if (outcome.kind === 'reply') return toResult(outcome.reply, outcome.from);
    }
    throw unavailable(exchange, [], ['what the servers serve is changing']);
  };
}

/**
 * A local "I do not know this resource" for something on the local surface: the server has changed since that was read
 * (restarted as another version, a CRD deleted). With a new surface the request is routed anew; else the answer stands.
 */
function isDoubtful(exchange: Exchange, reply: Reply, local: LocalServer): boolean {
  if (!isUnknownHere(exchange, reply) || !local.surface || !serves(local.surface, exchange.info)) return false;
  return canSendAgain(exchange);
}

/** The local server does not serve the resource of a request. */
function isUnknownHere(exchange: Exchange, reply: Reply): boolean {
  return classifyReply(exchange, reply, 'kube-apiserver') === 'unknown-resource';
}

async function stillSame({ localSurface, refreshLocal }: RouterOptions, local: LocalServer): Promise<boolean> {
  await refreshLocal();
  return localSurface() === local.surface;
}

/** Carried here by a peer, or this server's own view is asked for: no further hop, and no wrong 404 either. */
async function serveHere({ host }: RouterOptions, exchange: Exchange): Promise<Reply> {
  if (!host.ready()) throw markNotTaken(unavailable(exchange, [], ['the local server is down']), 'true');
  try {
    const reply = await withRefusalRead(exchange, await host.handle(exchange));
    if (!exchange.peerProxied || !isUnknownHere(exchange, reply)) return reply;
    discard(reply);
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    const refusal = unavailable(exchange, [], [error.message]);
    throw markNotTaken(refusal, error.processed === 'unsent' ? 'true' : 'maybe');
  }
  const message = `${describe(exchange)} was sent here by a peer but is not served here`;
  throw markNotTaken(new StatusError('ServiceUnavailable', message), 'unknown');
}

async function rerouteTo(
  options: RouterOptions,
  exchange: Exchange,
  way: Extract<Route, { kind: 'reroute' }>,
  local: LocalServer,
): Promise<RerouteOutcome> {
  const { rerouter, metrics } = options;
  const outcome = await rerouter.reroute(exchange, way.peers, way.why, {
    lastResort: ifServedHere(options, exchange),
  });
  if (outcome.kind === 'reply' && exchange.info.isResource && local.ready) {
    metrics.wrong404sPrevented.labels('rerouted').inc();
  }
  return outcome;
}

/** The local server, if it serves the request by now: it may have come back while peers were tried. */
function ifServedHere({ host, localSurface }: RouterOptions, exchange: Exchange): LastResort {
  return () => {
    const surface = localSurface();
    if (!host.ready() || (exchange.info.isResource && !(surface && serves(surface, exchange.info)))) return undefined;
    return host.handle(exchange).then(async (answer) => {
      const reply = await localAnswer(exchange, answer, 'no peer answered');
      if (!isUnknownHere(exchange, reply)) return reply;
      discard(reply);
      throw new AttemptError('unsent', 'stale', 'the local server does not serve it');
    });
  };
}

function refuse(exchange: Exchange, why: string, metrics: Metrics, local: LocalServer): StatusError {
  if (exchange.info.isResource && local.ready) metrics.wrong404sPrevented.labels('held-back').inc();
  return new StatusError('ServiceUnavailable', `${describe(exchange)} cannot be served right now: ${why}`);
}

/** Records that the local server answered, and reads the body of a short 404. Rejects with AttemptError. */
function localAnswer(exchange: Exchange, reply: Reply, why: string): Reply | Promise<Reply> {
  exchange.routed = { to: 'local', why };
  return withRefusalRead(exchange, reply);
}

/** Sends a request that the local server could not take to a capable peer, where that is safe. */
async function afterLocalFailure(options: RouterOptions, exchange: Exchange, error: unknown): Promise<ServedReply> {
  const { host, rerouter, directory, metrics } = options;
  if (!(error instanceof AttemptError)) throw error;
  if (exchange.aborted || !mayMoveOn(exchange, error)) throw unavailable(exchange, [], [error.message]);
  metrics.failovers.labels('local', error.type).inc();
  const peers = capablePeers(exchange, directory.snapshot());
  // A connection that the server had just closed is no reason to give up when it still takes requests.
  const onceMore: LastResort = () =>
    host.ready() ? host.handle(exchange).then((reply) => localAnswer(exchange, reply, 'no peer answered')) : undefined;
  if (peers.length > 0) {
    const outcome = await rerouter.reroute(exchange, peers, 'the local server did not answer', {
      lastResort: onceMore,
      afterFailure: true,
    });
    if (outcome.kind === 'reply') return outcome;
  }
  try {
    const reply = onceMore();
    if (reply) return { reply: await reply, from: undefined };
  } catch (again) {
    if (!(again instanceof AttemptError)) throw again;
  }
  throw unavailable(exchange, peers, [error.message]);
}
