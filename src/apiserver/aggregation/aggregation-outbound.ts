import type { Reply } from '../../http/exchange.js';
import type { RawHeaders } from '../../http/headers.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { OutboundAnswer, OutboundRequest, OutboundTarget } from '../outbound/outbound.js';
import type { RemoteApiService } from './api-service.js';
import { resolveService } from './service-address.js';

/** Connections to aggregated API servers. Messages of errors may be shown to clients. */
export interface AggregationOutbound {
  /** Sends a request and reads the whole reply; `frontProxy` shows the front-proxy certificate. */
  call(target: OutboundTarget, request: OutboundRequest, frontProxy: boolean): Promise<OutboundAnswer>;
  /** Sends a request; the reply's body is a stream. The lane decides about the certificate. */
  send(target: OutboundTarget, request: OutgoingRequest): Promise<Reply>;
  upgrade(target: OutboundTarget, request: OutgoingRequest): Promise<Reply>;
}

/** Returns the current target of an APIService. Throws ServiceAddressError. */
export function targetOf(
  objects: ObjectReader,
  { service, caBundle, insecureSkipTlsVerify }: RemoteApiService,
): OutboundTarget {
  return {
    ...resolveService(objects, service),
    caBundle,
    ...(insecureSkipTlsVerify ? { insecureSkipVerify: true } : {}),
  };
}

/** The identity of kube-apiserver's aggregator. */
const AGGREGATOR_HEADERS = [
  ...['X-Remote-User', 'system:kube-aggregator', 'X-Remote-Group', 'system:masters'],
  ...['User-Agent', 'straddle-aggregator'],
];

/** Sends a GET of the aggregator itself, not of a client, with the front-proxy certificate. */
export function aggregatorGet(
  outbound: AggregationOutbound,
  target: OutboundTarget,
  path: string,
  timeoutMs: number,
  headers: RawHeaders = [],
): Promise<OutboundAnswer> {
  const request = { method: 'GET', path, headers: [...AGGREGATOR_HEADERS, ...headers], body: null, timeoutMs };
  return outbound.call(target, request, true);
}
