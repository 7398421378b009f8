import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import { AttemptError } from '../../core/host.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { resourceName } from '../../kube/gvr.js';
import { isProxied } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import { saysNotTaken } from '../../routing/not-taken.js';
import { discard, refusalAtHand, saysUnknownResource } from '../../routing/unknown-resource.js';
import type { Peer, PeerDirectory, PeerEndpoint } from '../peers/peer-table.js';
import { type Candidate, selectEndpoint } from './select-endpoint.js';

/** Sends one exchange to one endpoint of a peer. Rejects with AttemptError when the peer could not answer. */
export type Dispatch = (candidate: Candidate, exchange: Exchange) => Promise<Reply>;

export interface RerouteOptions {
  readonly dispatch: Dispatch;
  readonly directory: PeerDirectory;
  readonly attemptsMax: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** `stale`: the peer does not serve it after all, its surface was read again, and the request is still unsent. */
export type RerouteOutcome = Reply | 'stale';

/**
 * Carries a request to one of several capable peers, moving on to the next where that is safe. Throws a 503 that says
 * what was tried when none could answer.
 */
export class Rerouter {
  readonly #options: RerouteOptions;
  /** Where watches come from, for as long as their replies live. */
  readonly #servers = new WeakMap<Reply, Candidate>();

  constructor(options: RerouteOptions) {
    this.#options = options;
  }

  async reroute(exchange: Exchange, peers: readonly Peer[], why: string): Promise<RerouteOutcome> {
    const { attemptsMax, metrics } = this.#options;
    const tried = new Set<PeerEndpoint>();
    const failures: string[] = [];
    while (tried.size < attemptsMax) {
      const candidate = selectEndpoint(peers, tried);
      if (!candidate) break;
      tried.add(candidate.endpoint);
      try {
        return await this.#attempt(exchange, candidate, why);
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        failures.push(`${candidate.peer.identity}: ${error.message}`);
        this.#failed(exchange, candidate, error);
        if (exchange.aborted || !mayMoveOn(exchange, error)) break;
        metrics.failovers.labels(candidate.peer.identity, error.type).inc();
      }
    }
    throw unavailable(exchange, peers, failures);
  }

  /** The peer that a watch's reply came from. */
  servedBy(reply: Reply): Candidate | undefined {
    return this.#servers.get(reply);
  }

  async #attempt(exchange: Exchange, candidate: Candidate, why: string): Promise<RerouteOutcome> {
    const { metrics, directory, dispatch } = this.#options;
    const { peer, endpoint } = candidate;
    const begunAt = performance.now();
    const came = refusalAtHand(exchange, await dispatch(candidate, exchange));
    const reply = came instanceof Promise ? await came : came;
    if (endpoint.kind === 'straddle' && saysNotTaken(exchange, reply)) {
      discard(reply);
      throw new AttemptError('unsent', 'not-taken', `${endpoint.destination.address}: the server behind it is down`);
    }
    endpoint.report('answered');
    if (!exchange.info.longRunning) {
      metrics.attemptSeconds.labels(peer.identity).observe((performance.now() - begunAt) / 1000);
    }
    exchange.routed = { to: peer.identity, why };

    if (saysUnknownResource(exchange, reply)) {
      discard(reply);
      await directory.refresh(peer);
      if (!canSendAgain(exchange)) throw unavailable(exchange, [peer], [`${peer.identity} no longer serves it`]);
      return 'stale';
    }
    if (reply.status === 503) void directory.refresh(peer);
    const { group, version, resource } = exchange.info;
    metrics.rerouted.labels(String(reply.status), group, version, resource).inc();
    if (exchange.info.verb === 'watch') this.#servers.set(reply, candidate);
    return reply;
  }

  #failed(exchange: Exchange, { peer, endpoint }: Candidate, error: AttemptError): void {
    const { logger, metrics } = this.#options;
    const { group, version, resource } = exchange.info;
    // The caller's leaving says nothing about the peer, nor do headers that something in a pod has made up.
    if (error.type === 'aborted' || (error.type === 'protocol' && isProxied(exchange.info))) return;
    endpoint.report('failed', error.message);
    metrics.proxyErrors.labels(error.type, group, version, resource).inc();
    logger.debug('a peer did not answer', { peer: peer.identity, error: error.message, target: exchange.target });
  }
}

/** Nothing of it can have been carried out, or carrying it out twice does no harm; and its body is still there. */
export function mayMoveOn(exchange: Exchange, error: AttemptError): boolean {
  return canSendAgain(exchange) && (error.processed === 'unsent' || isSafe(exchange));
}

/** A streamed body can be sent as long as no attempt has taken a byte of it. */
export function canSendAgain(exchange: Exchange): boolean {
  const { body } = exchange;
  if (body === null || exchange.gatheredBody !== undefined || !exchange.bodyTouched) return true;
  return !body.readableDidRead && !body.destroyed;
}

/** A `GET` that asks to switch protocols may be an exec: run twice, it does twice what it does. */
function isSafe({ method, upgrade }: Exchange): boolean {
  if (upgrade) return false;
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

export function unavailable(exchange: Exchange, peers: readonly Peer[], failures: readonly string[]): StatusError {
  const tried =
    failures.length > 0
      ? `tried ${failures.join('; ')}`
      : `${peers.map((peer) => peer.identity).join(', ') || 'no server'} cannot be reached at the moment`;
  return new StatusError('ServiceUnavailable', `${describe(exchange)} cannot be served right now: ${tried}`);
}

/** The resource the way people name it, or the path. */
export function describe(exchange: Exchange): string {
  const { info } = exchange;
  if (!info.isResource) return info.path;
  return info.subresource === '' ? resourceName(info) : `${resourceName(info)}/${info.subresource}`;
}
