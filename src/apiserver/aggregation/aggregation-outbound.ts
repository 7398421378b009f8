import type { Reply } from '../../http/exchange.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { OutboundAnswer, OutboundRequest, OutboundTarget } from '../outbound/outbound.js';
import type { RemoteApiService } from './api-service.js';
import { resolveService } from './service-address.js';

/** Connections to aggregated API servers. Rejects with errors whose message is fit to be shown. */
export interface AggregationOutbound {
  /** One question, answered whole, with the front-proxy certificate when asked for. */
  call(target: OutboundTarget, request: OutboundRequest, frontProxy: boolean): Promise<OutboundAnswer>;
  /** A request sent on, the answer streamed. The `front-proxy` lane shows the front-proxy certificate. */
  send(target: OutboundTarget, request: OutgoingRequest): Promise<Reply>;
  upgrade(target: OutboundTarget, request: OutgoingRequest): Promise<Reply>;
}

/** Where an APIService leads now. Throws ServiceAddressError. */
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

/** The aggregator's own questions are asked under its own name, as kube-apiserver's are. */
export const AGGREGATOR_HEADERS: readonly string[] = [
  'X-Remote-User',
  'system:kube-aggregator',
  'X-Remote-Group',
  'system:masters',
  'User-Agent',
  'straddle-aggregator',
];
