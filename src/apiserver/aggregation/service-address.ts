import { formatHostPort } from '../../base/address.js';
import { child, objects as objectsOf, text } from '../../kube/fields.js';
import { type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import type { ObjectReader } from '../contracts/object-reader.js';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface ServiceAddress {
  /** host:port to dial, an IPv6 host in brackets. */
  readonly address: string;
  /** `<name>.<namespace>.svc`: the name that the certificate must have. */
  readonly serverName: string;
}

/** A Service without a usable address. The message is kube-apiserver's. */
export class ServiceAddressError extends Error {
  readonly reason: 'ServiceNotFound' | 'ServicePortError' | 'MissingEndpoints' | 'Unsupported';

  constructor(reason: ServiceAddressError['reason'], message: string) {
    super(message);
    this.name = 'ServiceAddressError';
    this.reason = reason;
  }
}

const SERVICES = { group: '', resource: 'services' };
const ENDPOINTS = { group: '', resource: 'endpoints' };
export const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };

export function serverNameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${name}.${namespace}.svc`;
}

/**
 * Returns an address of a Service: a ready endpoint, so that no cluster network is needed, or the
 * cluster IP of a Service without EndpointSlices and Endpoints. Throws ServiceAddressError.
 */
export function resolveService(
  objects: ObjectReader,
  reference: ServiceReference,
  random: () => number = Math.random,
): ServiceAddress {
  const { namespace, name, port } = reference;
  const serverName = serverNameOf(reference);
  const service = objects.get(SERVICES, namespace, name);
  if (!service) throw new ServiceAddressError('ServiceNotFound', `service "${name}" not found`);
  const spec = objectMember(service, 'spec');
  const type = spec['type'] ?? 'ClusterIP';
  if (type === 'ExternalName')
    return { address: formatHostPort({ host: String(spec['externalName'] ?? ''), port }), serverName };
  if (type !== 'ClusterIP' && type !== 'NodePort' && type !== 'LoadBalancer') {
    throw new ServiceAddressError('Unsupported', `unsupported service type "${String(type)}"`);
  }
  const portName = servicePortName(spec, port);
  if (portName === undefined) {
    throw new ServiceAddressError('ServicePortError', `no service port ${port} found for service "${name}"`);
  }
  const ready = readyAddresses(objects, reference, portName);
  if (ready.length > 0) return { address: ready[Math.floor(random() * ready.length)]!, serverName };
  const clusterIp = spec['clusterIP'];
  const isKept =
    endpointSlicesOf(objects, reference).length > 0 || objects.get(ENDPOINTS, namespace, name) !== undefined;
  if (isKept || typeof clusterIp !== 'string' || clusterIp === '' || clusterIp === 'None') {
    throw new ServiceAddressError('MissingEndpoints', `no endpoints available for service "${name}"`);
  }
  return { address: formatHostPort({ host: clusterIp, port }), serverName };
}

/** Returns the name, perhaps empty, of the port with that number; undefined for no such port. */
export function servicePortName(spec: JsonObject, port: number): string | undefined {
  const found = objectsOf(spec, 'ports').find((each) => each['port'] === port);
  return found === undefined ? undefined : String(found['name'] ?? '');
}

export function endpointSlicesOf(
  objects: ObjectReader,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): JsonObject[] {
  return objects.list(ENDPOINT_SLICES, namespace).filter((slice) => {
    return text(child(metadataOf(slice), 'labels'), 'kubernetes.io/service-name') === name;
  });
}

/** Returns host:port of all ready endpoints: from EndpointSlices, else from Endpoints. */
export function readyAddresses(objects: ObjectReader, reference: ServiceReference, portName: string): string[] {
  const slices = endpointSlicesOf(objects, reference);
  if (slices.length > 0) return slices.flatMap((slice) => addressesOfSlice(slice, portName));
  const endpoints = objects.get(ENDPOINTS, reference.namespace, reference.name);
  return objectsOf(endpoints, 'subsets').flatMap((each) => addressesOfSubset(each, portName));
}

function addressesOfSlice(slice: JsonObject, portName: string): string[] {
  const port = portNumber(slice, portName);
  if (port === undefined) return [];
  return objectsOf(slice, 'endpoints').flatMap((endpoint) => {
    // A missing condition counts as ready.
    if (child(endpoint, 'conditions')?.['ready'] === false) return [];
    const [address] = Array.isArray(endpoint['addresses']) ? endpoint['addresses'] : [];
    return typeof address === 'string' ? [formatHostPort({ host: address, port })] : [];
  });
}

function addressesOfSubset(subset: JsonObject, portName: string): string[] {
  const port = portNumber(subset, portName);
  if (port === undefined) return [];
  return objectsOf(subset, 'addresses').flatMap(({ ip }) =>
    typeof ip === 'string' ? [formatHostPort({ host: ip, port })] : [],
  );
}

function portNumber(of: JsonObject, portName: string): number | undefined {
  const found = objectsOf(of, 'ports').find((each) => String(each['name'] ?? '') === portName);
  return typeof found?.['port'] === 'number' ? found['port'] : undefined;
}

/** Decodes the `caBundle` of a client configuration; undefined for an empty one. */
export function decodedBundle(caBundle: string): string | undefined {
  return caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString();
}
