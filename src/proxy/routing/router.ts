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
import type { PeerDirectory, PeerTable } from '../peers/peer-table.js';
import { createAskNewer } from './ask-newer.js';
import { classifyReply, withRefusalRead } from './classify-reply.js';
import { markNotTaken, withoutNotTaken } from './not-taken.js';
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
  /** Returns whether a request may be sent there now. Called for every request. */
  ready(): boolean;
}

export interface RouterOptions {
  readonly host: LocalHost;
  readonly localSurface: () => LocalServer['surface'];
  /** Reads the local surface again, because a reply contradicted it. Never rejects. */
  readonly refreshLocal: () => Promise<void>;
  readonly directory: PeerDirectory;
  readonly rerouter: Rerouter;
  /** Whether reads that a server refuses for an option it does not know are sent to a newer one. */
  readonly rerouteUnknownOptions: boolean;
  /** Returns whether a rerouted watch whose peer goes away now may continue at another server. */
  readonly mayContinue: () => boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Bound on new routes for a request because surfaces were out of date. */
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
 * Answers any request. `toResult` makes the result from a reply and the peer that sent it: only
 * watches need that peer, and other requests must not pay for it.
 */
function createAnswer<Result>(
  options: RouterOptions,
  toResult: (reply: Reply, from: Candidate | undefined) => Result,
): (exchange: Exchange) => Promise<Result> {
  const { host, localSurface, directory, metrics } = options;
  const askNewer = options.rerouteUnknownOptions ? createAskNewer(options) : undefined;

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
          const came = localAnswer(options, exchange, await host.handle(exchange), way.why);
          reply = isPending(came) ? await came : came;
        } catch (error) {
          ({ reply, from } = await afterLocalFailure(options, exchange, error));
        }
        if (!isDoubtful(exchange, reply, local) || (await stillSame(options, local))) {
          const newer = askNewer?.(exchange, { reply, from });
          if (newer) ({ reply, from } = await newer);
          return toResult(reply, from);
        }
        discard(reply);
        continue;
      }
      if (way.kind === 'unavailable') throw refuse(exchange, way.why, metrics, { local, table });
      if (exchange.body) await gatherSmallBody(exchange);
      const outcome = await rerouteTo(options, exchange, way, local);
      if (outcome.kind === 'reply') {
        const { reply, from } = (await askNewer?.(exchange, outcome)) ?? outcome;
        return toResult(reply, from);
      }
    }
    throw unavailable(exchange, [], ['what the servers serve is changing']);
  };
}

/**
 * Returns whether the local server does not know a resource of its surface: the server has changed
 * since (another version, a deleted CRD). With a new surface the request is routed again.
 */
function isDoubtful(exchange: Exchange, reply: Reply, local: LocalServer): boolean {
  if (!isUnknownHere(exchange, reply) || !local.surface || !serves(local.surface, exchange.info)) return false;
  return canSendAgain(exchange);
}

/** Returns whether the local server does not serve the resource of a request. */
function isUnknownHere(exchange: Exchange, reply: Reply): boolean {
  return classifyReply(exchange, reply, 'kube-apiserver') === 'unknown-resource';
}

async function stillSame({ localSurface, refreshLocal }: RouterOptions, local: LocalServer): Promise<boolean> {
  await refreshLocal();
  return localSurface() === local.surface;
}

/** Answers a request of a peer, or one for the local view: without a further hop or a wrong 404. */
async function serveHere({ host, clock }: RouterOptions, exchange: Exchange): Promise<Reply> {
  if (!host.ready()) throw markNotTaken(unavailable(exchange, [], ['the local server is down']), 'true');
  try {
    const reply = await withRefusalRead(exchange, await host.handle(exchange), clock);
    if (!exchange.peerProxied || !isUnknownHere(exchange, reply)) return withoutNotTaken(reply);
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
  if (exchange.info.isResource && local.ready && isOtherThanHere(outcome)) {
    metrics.wrong404sPrevented.labels('rerouted').inc();
    exchange.prevented404 = true;
  }
  return outcome;
}

/** Returns whether the local server takes requests and serves this one. */
export function servesNow(host: LocalHost, surface: LocalServer['surface'], { info }: Exchange): boolean {
  return host.ready() && (!info.isResource || (surface !== undefined && serves(surface, info)));
}

/**
 * Codes of a peer with which the local server alone would not have been wrong: it authorizes before it looks for the resource,
 * and the 404 of a missing object is a 404 there too.
 */
const SAME_HERE: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Returns whether a peer answered with another code than the local server alone would have sent. A peer that is too busy (429) or
 * fails (5xx) has not looked for the resource, so that nothing is known of what is prevented.
 */
function isOtherThanHere(outcome: RerouteOutcome): boolean {
  if (outcome.kind !== 'reply' || outcome.from === undefined) return false;
  const { status } = outcome.reply;
  return !SAME_HERE.has(status) && status !== 429 && status < 500;
}

/** Returns the local server as last resort: it may have come back while peers were tried. */
function ifServedHere(options: RouterOptions, exchange: Exchange): LastResort {
  const { host, localSurface } = options;
  return () => {
    if (!servesNow(host, localSurface(), exchange)) return undefined;
    return host.handle(exchange).then(async (answer) => {
      const reply = await localAnswer(options, exchange, answer, 'no peer answered');
      if (!isUnknownHere(exchange, reply)) return reply;
      discard(reply);
      throw new AttemptError('unsent', 'stale', 'the local server does not serve it');
    });
  };
}

interface RouteFacts {
  readonly local: LocalServer;
  readonly table: PeerTable;
}

function refuse(exchange: Exchange, why: string, metrics: Metrics, { local, table }: RouteFacts): StatusError {
  exchange.heldBack = why;
  const isHeld = exchange.info.isResource && local.ready;
  if (isHeld) metrics.wrong404sPrevented.labels('held-back').inc();
  // While a peer is unread nobody knows whether the name was made up by the client; a departed server that served it is known.
  exchange.prevented404 = isHeld && table.departedWith(exchange.info) !== undefined;
  return new StatusError('ServiceUnavailable', `${describe(exchange)} cannot be served right now: ${why}`);
}

/** Records that the local server answered, and reads the body of a short 404. Rejects with AttemptError. */
function localAnswer({ clock }: RouterOptions, exchange: Exchange, reply: Reply, why: string): Reply | Promise<Reply> {
  exchange.routed = { to: 'local', why };
  return withRefusalRead(exchange, reply, clock);
}

/** Sends a request that the local server could not take to a capable peer, where that is safe. */
async function afterLocalFailure(options: RouterOptions, exchange: Exchange, error: unknown): Promise<ServedReply> {
  const { host, rerouter, directory, metrics } = options;
  if (!(error instanceof AttemptError)) throw error;
  if (exchange.aborted || !mayMoveOn(exchange, error)) throw unavailable(exchange, [], [error.message]);
  metrics.failovers.labels('local', error.type).inc();
  exchange.failovers += 1;
  const peers = capablePeers(exchange, directory.snapshot());
  // The server may only have closed an idle connection, and still take requests.
  const onceMore: LastResort = () =>
    host.ready()
      ? host.handle(exchange).then((reply) => localAnswer(options, exchange, reply, 'no peer answered'))
      : undefined;
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
