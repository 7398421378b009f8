import { deriveExchange } from '../../http/derive-exchange.js';
import { discard } from '../../http/discard.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { gatherSmallBody, takeBody } from '../../http/gather-body.js';
import { filterHeaders, headerValue, type RawHeaders } from '../../http/headers.js';
import type { Identity } from '../../http/identity.js';
import type { Lane } from '../../http/outgoing.js';
import { StatusError } from '../../kube/status-error.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { User } from '../contracts/user.js';
import type { OutboundTarget } from '../outbound/outbound.js';
import { type AggregationOutbound, targetOf } from './aggregation-outbound.js';
import type { RemoteApiService } from './api-service.js';
import { ServiceAddressError } from './service-address.js';

/** Timeout for the head of an ordinary reply. */
export const PROXY_HEAD_TIMEOUT_MS = 60_000;
/** Shorter timeout for discovery: one group-version must not delay the others. */
export const PROXY_DISCOVERY_TIMEOUT_MS = 5_000;

/** Makes the headers of a request, without identity and proxy fields of the client. */
export type MakeHeaders = (
  exchange: Exchange,
  to: { readonly kind: 'kube-apiserver'; readonly rerouted: boolean; readonly host?: string },
) => { readonly headers: RawHeaders; readonly lane: Lane };

export interface ProxyParts {
  readonly objects: ObjectReader;
  readonly outbound: AggregationOutbound;
  readonly makeHeaders: MakeHeaders;
}

/** Proxies a request to an aggregated API server in its user's name; both bodies stream. */
export async function proxyRequest(
  parts: ProxyParts,
  exchange: Exchange,
  apiService: RemoteApiService,
  user: User,
): Promise<Reply> {
  const target = reachable(parts.objects, apiService);
  if (exchange.body) await gatherSmallBody(exchange);
  const request = {
    method: exchange.method,
    target: exchange.target,
    headers: headersFor(parts.makeHeaders, exchange, user, target.address),
    body: takeBody(exchange),
    lane: 'front-proxy' as const,
    headTimeoutMs: headTimeoutMs(exchange),
    onAbort: (listener: () => void) => exchange.onAbort(listener),
  };
  const begunAt = performance.now();
  try {
    const reply = await (exchange.upgrade
      ? parts.outbound.upgrade(target, request)
      : parts.outbound.send(target, request));
    return withoutRedirect(reply);
  } catch (error) {
    if (error instanceof StatusError || exchange.aborted) throw error;
    throw new StatusError('ServiceUnavailable', `error trying to reach service: ${(error as Error).message}`);
  } finally {
    exchange.awaitedMs += performance.now() - begunAt;
  }
}

export function serviceUnavailable(name: string, why: string): StatusError {
  return new StatusError('ServiceUnavailable', `service unavailable: APIService ${name}: ${why}`);
}

function reachable(objects: ObjectReader, apiService: RemoteApiService): OutboundTarget {
  try {
    return targetOf(objects, apiService);
  } catch (error) {
    if (error instanceof ServiceAddressError) throw serviceUnavailable(apiService.name, error.message);
    throw error;
  }
}

/**
 * Makes the headers. Credentials are removed, because the user is established here; so are
 * impersonation fields, which would be applied again with the rights of the impersonated user.
 */
function headersFor(makeHeaders: MakeHeaders, exchange: Exchange, user: User, host: string): RawHeaders {
  const { name, uid, groups, extra } = user;
  const identity: Identity = { kind: 'established', user: name, uid, groups, extra };
  const known = deriveExchange(exchange, { identity, nowMs: exchange.startedAtMs });
  // The mark of a rerouted request is passed on.
  known.peerProxied = exchange.peerProxied;
  const { headers } = makeHeaders(known, { kind: 'kube-apiserver', rerouted: false, host });
  return filterHeaders(headers, (lower) => !lower.startsWith('impersonate-'));
}

function headTimeoutMs({ info }: Exchange): number {
  if (info.longRunning) return 0;
  const isDiscovery = !info.isResource && info.path.split('/').filter((part) => part !== '').length === 3;
  return isDiscovery ? PROXY_DISCOVERY_TIMEOUT_MS : PROXY_HEAD_TIMEOUT_MS;
}

/** Replaces a redirect by 502: the client would send its credentials to another server. */
function withoutRedirect(reply: Reply): Reply {
  const redirects = reply.status >= 300 && reply.status <= 399 && headerValue(reply.headers, 'location') !== undefined;
  if (!redirects) return reply;
  discard(reply);
  const body = Buffer.from('the backend attempted to redirect this request, which is not permitted');
  return {
    status: 502,
    headers: ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', `${body.length}`],
    body,
  };
}
