import { objectMember } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { ENDPOINT_SLICES, endpointSlicesOf, servicePortName } from '../aggregation/service-address.js';
import { notFound } from '../registry/storage-failure.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { readNewest } from '../verbs/get.js';

const SCHEMES: ReadonlySet<string> = new Set(['', 'http', 'https']);

/**
 * Refuses a proxy request that leads nowhere, as kube-apiserver 1.37 and newer: it reads the service only for the name of a
 * port, and then looks for endpoints. Older ones look for the service's Endpoints object, which is missing with the service.
 */
export async function checkServiceProxy(call: ApiCall): Promise<void> {
  const { info, machinery, type } = call;
  const { name, port } = serviceAndPort(info.name);
  if (/^[+-]?\d+$/.test(port)) {
    const service = await readNewest(call, keyOf(call, name));
    if (service === undefined) throw notFound(type, name);
    const number = Number(port);
    if (servicePortName(objectMember(service.object, 'spec'), number) === undefined) {
      throw unavailable(`no service port ${number} found for service ${JSON.stringify(name)}`);
    }
  }
  await machinery.caches.load([ENDPOINT_SLICES]);
  if (endpointSlicesOf(machinery.caches, { namespace: info.namespace, name }).length === 0) {
    throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  }
}

/** Splits `name`, `name:port` or `scheme:name:port`. Throws BadRequest. */
function serviceAndPort(text: string): { readonly name: string; readonly port: string } {
  const parts = text.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts];
  if (parts.length > 3 || name === '' || !SCHEMES.has(scheme!)) {
    throw new StatusError('BadRequest', `invalid service request ${JSON.stringify(text)}`);
  }
  return { name: name!, port: port ?? '' };
}

function unavailable(message: string): StatusError {
  return new StatusError('ServiceUnavailable', message);
}
