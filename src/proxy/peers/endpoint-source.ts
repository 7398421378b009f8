import { joinAddress } from '../../base/address.js';
import type { Logger } from '../../base/logger.js';
import { OncePerSubject } from '../../base/once-per-subject.js';
import type { KubeClient, KubeObject } from '../../kube/client/kube-client.js';
import { explainKubeError, KubeError } from '../../kube/client/kube-error.js';
import { WatchList } from '../../kube/client/watch-list.js';
import type { PeerSource } from './peer-source.js';
import type { Sighting } from './sightings.js';

export const ENDPOINT_SLICES_PATH = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const SELECTOR = 'kubernetes.io/service-name=kubernetes';
/** Bounds; an HA control plane has one slice with a few addresses. */
const SLICES_MAX = 100;
const ENDPOINTS_PER_SLICE_MAX = 1_000;

interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { addresses?: readonly string[]; conditions?: { ready?: boolean } }[] | null;
  readonly ports?: readonly { name?: string; port?: number }[] | null;
}

export interface EndpointSourceOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
}

/** Source of the addresses of Service `default/kubernetes`: every kube-apiserver is in it. */
export function createEndpointSource({ client, logger }: EndpointSourceOptions): PeerSource {
  const slices = new Map<string, readonly Sighting[]>();
  const complaints = new OncePerSubject();
  let answered = false;
  let watch: WatchList<EndpointSlice> | undefined;

  const take = (slice: EndpointSlice): void => {
    const name = slice.metadata.name ?? '';
    if (slices.size >= SLICES_MAX && !slices.has(name)) return;
    slices.set(
      name,
      sightingsOf(slice, (garbage) => {
        if (complaints.isNew(`${name} ${garbage}`))
          logger.warn('address in an EndpointSlice of Service kubernetes ignored: not ip:port', {
            slice: name,
            address: garbage,
          });
      }),
    );
  };
  const start = (onChange: () => void): void => {
    watch = new WatchList<EndpointSlice>(client, {
      path: ENDPOINT_SLICES_PATH,
      labelSelector: SELECTOR,
      onSnapshot: (items) => {
        slices.clear();
        for (const slice of items) take(slice);
        answered = true;
        complaints.forget('watch');
        onChange();
      },
      onEvent: (type, slice) => {
        if (type === 'DELETED') slices.delete(slice.metadata.name ?? '');
        else take(slice);
        onChange();
      },
      onError: (error) => {
        if (complaints.isNew('watch'))
          logger.warn('watch of the EndpointSlices of Service kubernetes failed', { why: explainKubeError(error) });
        if (answered || !(error instanceof KubeError && error.refused)) return;
        answered = true;
        onChange();
      },
    });
  };
  return {
    name: 'endpoints',
    start,
    sightings: () => [...slices.values()].flat(),
    answered: () => answered,
    close: async () => watch?.close(),
  };
}

function sightingsOf(slice: EndpointSlice, complain: (garbage: string) => void): Sighting[] {
  const ports = Array.isArray(slice.ports) ? slice.ports : [];
  const port = (ports.find((entry) => entry?.name === 'https') ?? ports[0])?.port;
  const endpoints = Array.isArray(slice.endpoints) ? slice.endpoints.slice(0, ENDPOINTS_PER_SLICE_MAX) : [];
  return endpoints.flatMap((endpoint): Sighting[] => {
    // An absent condition means ready, by the EndpointSlice API.
    if (endpoint?.conditions?.ready === false) return [];
    const ip = Array.isArray(endpoint?.addresses) ? endpoint.addresses[0] : undefined;
    const address = typeof ip === 'string' && typeof port === 'number' ? joinAddress(ip, port) : undefined;
    if (address !== undefined) return [{ source: 'endpoints', kind: 'kube-apiserver', address }];
    complain(`${String(ip).slice(0, 100)}:${String(port).slice(0, 10)}`);
    return [];
  });
}
