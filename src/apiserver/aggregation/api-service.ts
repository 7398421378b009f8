import { isObject, type Json, type JsonObject, objectMember } from '../../kube/json.js';
import type { ServiceReference } from './service-address.js';

export const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' };

/** One group-version as an APIService object has it. Immutable. */
export interface ApiService {
  /** `v1alpha1.wardle.example.com` */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** Undefined where this server itself serves it. */
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
  const spec = objectMember(object, 'spec');
  const status = objectMember(object, 'status');
  const caBundle = text(spec['caBundle']);
  return {
    name: text(objectMember(object, 'metadata')['name']),
    group: text(spec['group']),
    version: text(spec['version']),
    service: serviceOf(spec['service']),
    caBundle: caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString(),
    insecureSkipTlsVerify: spec['insecureSkipTLSVerify'] === true,
    groupPriorityMinimum: number(spec['groupPriorityMinimum']),
    versionPriority: number(spec['versionPriority']),
    conditions: (Array.isArray(status['conditions']) ? status['conditions'] : []).filter(isObject).map((each) => ({
      type: text(each['type']),
      status: text(each['status']) as ApiServiceCondition['status'],
      lastTransitionTime: text(each['lastTransitionTime']),
      reason: text(each['reason']),
      message: text(each['message']),
    })),
  };
}

export function availableCondition({ conditions }: ApiService): ApiServiceCondition | undefined {
  return conditions.find((each) => each.type === 'Available');
}

function serviceOf(service: Json | undefined): ServiceReference | undefined {
  if (!isObject(service)) return undefined;
  const port = service['port'];
  return {
    namespace: text(service['namespace']),
    name: text(service['name']),
    port: typeof port === 'number' ? port : 443,
  };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function number(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
