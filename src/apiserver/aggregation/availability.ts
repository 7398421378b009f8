import { apiPath } from '../../kube/gvr.js';
import { objectMember } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { type AggregationOutbound, aggregatorGet, targetOf } from './aggregation-outbound.js';
import type { ApiServiceCondition, RemoteApiService } from './api-service.js';
import { endpointSlicesOf, readyAddresses, servicePortName } from './service-address.js';

/** Concurrent attempts: one of several servers behind a Service may be down. */
const CHECK_ATTEMPTS = 5;
const CHECK_TIMEOUT_MS = 5_000;

export type Availability = Pick<ApiServiceCondition, 'status' | 'reason' | 'message'>;

/**
 * Checks whether an aggregated API server serves its group-version. Has kube-apiserver's messages.
 */
export async function checkAvailability(
  objects: ObjectReader,
  outbound: AggregationOutbound,
  apiService: RemoteApiService,
): Promise<Availability> {
  const problem = serviceProblem(objects, apiService);
  if (problem) return { status: 'False', ...problem };
  const attempts = Array.from({ length: CHECK_ATTEMPTS }, () => askDiscovery(objects, outbound, apiService));
  try {
    await Promise.any(attempts);
  } catch (error) {
    const last = (error as AggregateError).errors.at(-1) as Error;
    return { status: 'False', reason: 'FailedDiscoveryCheck', message: last.message };
  }
  return { status: 'True', reason: 'Passed', message: 'all checks passed' };
}

function serviceProblem(
  objects: ObjectReader,
  { service }: RemoteApiService,
): Omit<Availability, 'status'> | undefined {
  const { namespace, name, port } = service;
  const named = `service/${name} in "${namespace}"`;
  const found = objects.get({ group: '', resource: 'services' }, namespace, name);
  if (!found) return { reason: 'ServiceNotFound', message: `${named} is not present` };
  const spec = objectMember(found, 'spec');
  if ((spec['type'] ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const portName = servicePortName(spec, port);
  if (portName === undefined) {
    return { reason: 'ServicePortError', message: `${named} is not listening on port ${port}` };
  }
  const hasEndpoints = objects.get({ group: '', resource: 'endpoints' }, namespace, name) !== undefined;
  if (endpointSlicesOf(objects, service).length === 0 && !hasEndpoints) {
    return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${named}` };
  }
  if (readyAddresses(objects, service, portName).length === 0) {
    return {
      reason: 'MissingEndpoints',
      message: `endpointslices for ${named} have no addresses with port name "${portName}"`,
    };
  }
  return undefined;
}

async function askDiscovery(
  objects: ObjectReader,
  outbound: AggregationOutbound,
  apiService: RemoteApiService,
): Promise<void> {
  const target = targetOf(objects, apiService);
  const path = apiPath(apiService.group, apiService.version);
  const url = `https://${target.address}${path}`;
  const answer = await aggregatorGet(outbound, target, path, CHECK_TIMEOUT_MS).catch((error: Error) => {
    throw new Error(`failing or missing response from ${url}: Get "${url}": ${error.message}`);
  });
  if (answer.status < 200 || answer.status >= 300) {
    throw new Error(`failing or missing response from ${url}: bad status from ${url}: ${answer.status}`);
  }
}
