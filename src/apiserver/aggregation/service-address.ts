import { formatHostPort } from '../../base/address.js';
import { isObject, type Json, type JsonObject, objectMember } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface ServiceAddress {
  /** host:port to dial, an IPv6 host in brackets. */
  readonly address: string;
  /** `<name>.<namespace>.svc`: what the certificate must be for, whatever is dialled. */
  readonly serverName: string;
}

/** A service that leads nowhere now. The message is kube-apiserver's. */
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
 * Where a service of the cluster is reached: an endpoint that is ready, dialled directly, so that no cluster network is
 * needed; the cluster's address of the service where nothing keeps its endpoints. Throws ServiceAddressError.
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

/** The name of the port with that number, empty for one without a name, undefined where the service has none such. */
export function servicePortName(spec: JsonObject, port: number): string | undefined {
  const found = listAt(spec, 'ports').find((each) => each['port'] === port);
  return found === undefined ? undefined : String(found['name'] ?? '');
}

export function endpointSlicesOf(
  objects: ObjectReader,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): JsonObject[] {
  return objects.list(ENDPOINT_SLICES, namespace).filter((slice) => {
    const labels = objectMember(objectMember(slice, 'metadata'), 'labels');
    return labels['kubernetes.io/service-name'] === name;
  });
}

/** host:port of everything that is ready behind a port: slices first, Endpoints where there are no slices. */
export function readyAddresses(objects: ObjectReader, reference: ServiceReference, portName: string): string[] {
  const slices = endpointSlicesOf(objects, reference);
  if (slices.length > 0) return slices.flatMap((slice) => addressesOfSlice(slice, portName));
  const endpoints = objects.get(ENDPOINTS, reference.namespace, reference.name);
  return endpoints === undefined
    ? []
    : listAt(endpoints, 'subsets').flatMap((each) => addressesOfSubset(each, portName));
}

function addressesOfSlice(slice: JsonObject, portName: string): string[] {
  const port = portNumber(slice, portName);
  if (port === undefined) return [];
  return listAt(slice, 'endpoints').flatMap((endpoint) => {
    // Not said is ready.
    if (objectMember(endpoint, 'conditions')['ready'] === false) return [];
    const [address] = Array.isArray(endpoint['addresses']) ? endpoint['addresses'] : [];
    return typeof address === 'string' ? [formatHostPort({ host: address, port })] : [];
  });
}

function addressesOfSubset(subset: JsonObject, portName: string): string[] {
  const port = portNumber(subset, portName);
  if (port === undefined) return [];
  return listAt(subset, 'addresses').flatMap(({ ip }) =>
    typeof ip === 'string' ? [formatHostPort({ host: ip, port })] : [],
  );
}

function portNumber(of: JsonObject, portName: string): number | undefined {
  const found = listAt(of, 'ports').find((each) => String(each['name'] ?? '') === portName);
  return typeof found?.['port'] === 'number' ? found['port'] : undefined;
}

function listAt(object: JsonObject, key: string): JsonObject[] {
  const value: Json | undefined = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}
