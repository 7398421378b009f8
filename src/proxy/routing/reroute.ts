import type { Logger } from '../../base/logger.js';
import type { Metrics } from '../../base/metric-catalogue.js';
import { AttemptError } from '../../http/attempt-error.js';
import { discard } from '../../http/discard.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { canSendAgain, mayMoveOn } from '../../http/send-again.js';
import { resourceName } from '../../kube/gvr.js';
import { isProxied } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import type { Peer, PeerDirectory, PeerEndpoint, PeerTable } from '../peers/peer-table.js';
import { classifyReply, throwIfNotTaken } from './classify-reply.js';
import { type Candidate, selectEndpoint } from './select-endpoint.js';

/**
 * Sends one exchange to one endpoint of a peer and reads short refusals (`withRefusalRead`). Rejects with AttemptError if
 * the peer could not answer, and with a StatusError (429), unsent, if the peer has as many requests as it may.
 */
export type Dispatch = (candidate: Candidate, exchange: Exchange) => Promise<Reply>;

export interface RerouteOptions {
  readonly dispatch: Dispatch;
  readonly directory: PeerDirectory;
  readonly attemptsMax: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A reply and the peer that sent it; `from` is undefined for the local server. */
export interface ServedReply {
  readonly reply: Reply;
  readonly from: Candidate | undefined;
}

/** `stale`: no capable peer serves it after all, their surfaces were read again, and the request is still unsent. */
export type RerouteOutcome = ({ readonly kind: 'reply' } & ServedReply) | { readonly kind: 'stale' };

const STALE: RerouteOutcome = { kind: 'stale' };

/** Sends the request to the local server; undefined if it is down. Rejects with AttemptError. */
export type LastResort = () => Promise<Reply> | undefined;

export interface RerouteExtras {
  /** Called when no peer could answer and the request may still be sent. */
  readonly lastResort?: LastResort;
  /** Another server has failed to answer the request before. */
  readonly afterFailure?: boolean;
  /** Returns the peers that may be tried after a failure; all capable ones without it. */
  readonly among?: () => readonly Peer[];
}

/** Cooling peers that are probed for one request; a control plane has few. */
const PROBED_MAX = 4;

/**
 * Sends a request to one of several capable peers, and to the next after a failure where that is
 * safe. If none could answer, throws 503 with the failures, or 429 if a peer was only busy.
 */
export class Rerouter {
  readonly #options: RerouteOptions;

  constructor(options: RerouteOptions) {
    this.#options = options;
  }

  async reroute(
    exchange: Exchange,
    peers: readonly Peer[],
    why: string,
    { lastResort, afterFailure = false, among }: RerouteExtras = {},
  ): Promise<RerouteOutcome> {
    const { attemptsMax, directory, metrics } = this.#options;
    const tried = new Set<PeerEndpoint>();
    const failures: string[] = [];
    let candidates = peers;
    let isStale = false;
    let busy: StatusError | undefined;
    for (let attempts = 0; attempts < attemptsMax; attempts++) {
      // The last attempt may have taken seconds, in which other servers came back.
      if (attempts > 0) candidates = withNewcomers(peers, among?.() ?? capablePeers(exchange, directory.snapshot()));
      const othersFailed = afterFailure || failures.length > 0;
      const candidate = selectEndpoint(candidates, tried) ?? (othersFailed && (await this.#probed(candidates, tried)));
      if (!candidate) break;
      const { peer, endpoint } = candidate;
      tried.add(endpoint);
      try {
        const outcome = await this.#attempt(exchange, candidate, why);
        if (outcome.kind === 'reply') return outcome;
        isStale = true;
        for (const each of peer.endpoints) tried.add(each);
      } catch (error) {
        if (isBusy(error) && !exchange.aborted) {
          // All addresses of the peer share its limit.
          for (const each of peer.endpoints) tried.add(each);
          busy = error;
          continue;
        }
        if (!(error instanceof AttemptError)) throw error;
        failures.push(`${peer.identity}: ${error.message}`);
        this.#failed(exchange, candidate, error);
        if (exchange.aborted || !mayMoveOn(exchange, error)) throw unavailable(exchange, peers, failures);
        metrics.failovers.labels(peer.identity, error.type).inc();
        exchange.failovers += 1;
      }
    }
    if (isStale && failures.length === 0) return STALE;
    try {
      const reply = await lastResort?.();
      if (reply) return { kind: 'reply', reply, from: undefined };
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      failures.push(error.message);
    }
    throw busy ?? unavailable(exchange, peers, failures);
  }

  /** Returns a candidate in cool-down that answers a probe now, within a bounded time. */
  async #probed(peers: readonly Peer[], tried: ReadonlySet<PeerEndpoint>): Promise<Candidate | undefined> {
    const cooling = peers.filter(({ endpoints }) => endpoints.some((each) => !tried.has(each)));
    const probes = cooling.slice(0, PROBED_MAX).map(async (peer) => {
      await this.#options.directory.refresh(peer);
      return selectEndpoint([peer], tried) ?? Promise.reject(new Error(`${peer.identity} is still down`));
    });
    return Promise.any(probes).catch(() => undefined);
  }

  async #attempt(exchange: Exchange, candidate: Candidate, why: string): Promise<RerouteOutcome> {
    const { metrics, directory, dispatch } = this.#options;
    const { peer, endpoint } = candidate;
    const begunAt = performance.now();
    const reply = await dispatch(candidate, exchange);
    const kind = classifyReply(exchange, reply, endpoint.kind);
    if (kind !== 'answer' && kind !== 'unknown-option') discard(reply);
    throwIfNotTaken(kind, endpoint.destination.address);
    endpoint.report('answered');
    if (!exchange.info.longRunning) {
      metrics.attemptSeconds.labels(peer.identity).observe((performance.now() - begunAt) / 1000);
    }
    exchange.routed = { to: peer.identity, why };

    if (kind === 'unknown-resource') {
      await directory.refresh(peer);
      if (!canSendAgain(exchange)) throw unavailable(exchange, [peer], [`${peer.identity} no longer serves it`]);
      return STALE;
    }
    if (reply.status === 503) void directory.refresh(peer);
    const { group, version, resource } = exchange.info;
    metrics.rerouted.labels(String(reply.status), group, version, resource).inc();
    return { kind: 'reply', reply, from: candidate };
  }

  #failed(exchange: Exchange, { peer, endpoint }: Candidate, error: AttemptError): void {
    const { logger, metrics } = this.#options;
    const { group, version, resource } = exchange.info;
    // An abort by the caller and a malformed reply of a pod are no failures of the peer.
    if (error.type === 'aborted' || (error.type === 'protocol' && isProxied(exchange.info))) return;
    endpoint.report('failed', error.message);
    metrics.proxyErrors.labels(error.type, group, version, resource).inc();
    logger.debug('a peer did not answer', { peer: peer.identity, error: error.message, target: exchange.target });
  }
}

/** Returns whether the limit on requests to one peer refused a request, which was not sent. */
function isBusy(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.code === 429;
}

function withNewcomers(peers: readonly Peer[], now: readonly Peer[]): readonly Peer[] {
  if (now === peers) return peers;
  const before = peers.filter(({ identity }) => !now.some((each) => each.identity === identity));
  return [...now, ...before];
}

/** Returns the peers that may answer a request: any peer for a non-resource request. */
export function capablePeers({ info }: Exchange, table: PeerTable): readonly Peer[] {
  return info.isResource ? table.capable(info) : table.peers;
}

export function unavailable(exchange: Exchange, peers: readonly Peer[], failures: readonly string[]): StatusError {
  const tried =
    failures.length > 0
      ? `tried ${failures.join('; ')}`
      : `${peers.map((peer) => peer.identity).join(', ') || 'no server'} cannot be reached at the moment`;
  exchange.heldBack = 'no server could be reached';
  return new StatusError('ServiceUnavailable', `${describe(exchange)} cannot be served right now: ${tried}`);
}

/** Returns the resource as in kubectl, or the path. */
export function describe(exchange: Exchange): string {
  const { info } = exchange;
  if (!info.isResource) return info.path;
  return info.subresource === '' ? resourceName(info) : `${resourceName(info)}/${info.subresource}`;
}
