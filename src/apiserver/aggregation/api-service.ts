import { child, number, objects, text } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { decodedBundle, type ServiceReference } from './service-address.js';

export const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' };

/** A parsed APIService object. Immutable. */
export interface ApiService {
  /** `v1alpha1.wardle.example.com` */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** Undefined if this server itself serves the group-version. */
  readonly service: ServiceReference | undefined;
  /** PEM; undefined for the public authorities. */
  readonly caBundle: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  readonly conditions: readonly ApiServiceCondition[];
}

export interface RemoteApiService extends ApiService {
  readonly service: ServiceReference;
}

export interface ApiServiceCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export function isRemote(apiService: ApiService): apiService is RemoteApiService {
  return apiService.service !== undefined;
}

export function parseApiService(object: JsonObject): ApiService {
  const spec = child(object, 'spec');
  const status = child(object, 'status');
  return {
    name: nameOf(object),
    group: text(spec, 'group'),
    version: text(spec, 'version'),
    service: serviceOf(child(spec, 'service')),
    caBundle: decodedBundle(text(spec, 'caBundle')),
    insecureSkipTlsVerify: spec?.['insecureSkipTLSVerify'] === true,
    groupPriorityMinimum: number(spec, 'groupPriorityMinimum') ?? 0,
    versionPriority: number(spec, 'versionPriority') ?? 0,
    conditions: objects(status, 'conditions').map((each) => ({
      type: text(each, 'type'),
      status: text(each, 'status') as ApiServiceCondition['status'],
      lastTransitionTime: text(each, 'lastTransitionTime'),
      reason: text(each, 'reason'),
      message: text(each, 'message'),
    })),
  };
}

export function availableCondition({ conditions }: ApiService): ApiServiceCondition | undefined {
  return conditions.find((each) => each.type === 'Available');
}

function serviceOf(service: JsonObject | undefined): ServiceReference | undefined {
  if (!service) return undefined;
  return { namespace: text(service, 'namespace'), name: text(service, 'name'), port: number(service, 'port') ?? 443 };
}
