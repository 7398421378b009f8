import { parseRequestInfo } from '../kube/request-info.js';
import { type ClientConnection, Exchange } from './exchange.js';
import type { RawHeaders } from './headers.js';
import type { Identity } from './identity.js';

/** Fields that replace those of the original; `deriveExchange` has the rule for the others. */
export interface DerivedRequest {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: RawHeaders;
  /** A whole body; none without it. */
  readonly body?: Uint8Array | null;
  readonly identity?: Identity;
  readonly nowMs: number;
}

/**
 * Makes a further request because of another one, for the same caller.
 *
 * - Inherited, unless given: method, target, headers, identity.
 * - Inherited always: the connection and `trustedProxy`, which are facts about the caller.
 * - Inherited with the same method and target: `upgrade` and `info`. Otherwise there is no upgrade, and `info` is parsed.
 * - Never inherited: the body, which can be sent once and belongs to the original; `holding`, because the limits count the
 *   original; `peerProxied` and `localOnly`, which are about the way of the original and not about its caller; `routed` and
 *   `awaitedMs`, which are results.
 * - Not linked: an abort ends the original only, unless the caller of this function links the two.
 */
export function deriveExchange(original: Exchange, request: DerivedRequest): Exchange {
  const { method = original.method, target = original.target, headers = original.headers } = request;
  const isSame = method === original.method && target === original.target;
  const { connection } = original;
  const upgrade = isSame && original.upgrade;
  const derived = new Exchange({ method, target, headers, body: null, connection, upgrade }, request.nowMs);
  derived.info = isSame ? original.info : (parseRequestInfo(method, target) ?? derived.info);
  derived.identity = request.identity ?? original.identity;
  derived.trustedProxy = original.trustedProxy;
  if (request.body) derived.gatheredBody = request.body;
  return derived;
}

const NO_CONNECTION: ClientConnection = { remoteAddress: '', certificateChain: [] };

/** Makes a request of this process, for which no client waits. Its identity is trusted. */
export function internalExchange(
  request: Required<Pick<DerivedRequest, 'method' | 'target' | 'headers' | 'identity' | 'nowMs'>> &
    Pick<DerivedRequest, 'body'>,
): Exchange {
  const { method, target, headers, nowMs } = request;
  const exchange = new Exchange({ method, target, headers, body: null, connection: NO_CONNECTION }, nowMs);
  exchange.info = parseRequestInfo(method, target) ?? exchange.info;
  exchange.identity = request.identity;
  if (request.body) exchange.gatheredBody = request.body;
  return exchange;
}
