import { formatHostPort, hostPortOf } from '../../base/address.js';
import type { JsonObject } from '../../kube/json.js';
import type { ServiceAddress, ServiceReference } from '../aggregation/service-address.js';
import type { OutboundTarget } from '../outbound/outbound.js';
import { objectIn, textIn } from './definition.js';

/** Where a webhook of a definition is, and how to name it when it is not reached. */
export interface ConversionTarget extends OutboundTarget {
  readonly path: string;
  readonly url: string;
}

/** Looked up anew for every call: services move. Throws what `resolveService` throws. */
export function conversionTarget(
  conversion: JsonObject,
  timeoutSeconds: number,
  resolveService: (reference: ServiceReference) => ServiceAddress,
): ConversionTarget {
  const config = objectIn(objectIn(conversion, 'webhook') ?? {}, 'clientConfig') ?? {};
  const caBundle = decodedBundle(textIn(config, 'caBundle'));
  const query = `?timeout=${timeoutSeconds}s`;
  const service = objectIn(config, 'service');
  if (service === undefined) {
    const url = new URL(textIn(config, 'url'));
    const path = url.pathname + query;
    const target = hostPortOf(url);
    const address = formatHostPort(target);
    return { address, serverName: target.host, caBundle, path, url: `https://${url.host}${path}` };
  }
  const reference = {
    namespace: textIn(service, 'namespace'),
    name: textIn(service, 'name'),
    port: typeof service['port'] === 'number' ? service['port'] : 443,
  };
  const { address, serverName } = resolveService(reference);
  const path = (textIn(service, 'path') || '/') + query;
  return { address, serverName, caBundle, path, url: `https://${serverName}:${reference.port}${path}` };
}

function decodedBundle(bundle: string): string | undefined {
  const text = Buffer.from(bundle, 'base64').toString('utf8');
  return text.trim() === '' ? undefined : text;
}
