import type { JsonObject } from '../../../kube/json.js';
import type { StatusDetails } from '../../../kube/status.js';
import type { StatusError } from '../../../kube/status-error.js';
import { forbidden } from '../../authorization/forbidden.js';
import type { AdmissionRequest } from '../admission.js';

/** Returns admission's refusal: `pods "x" is forbidden: …`. */
export function refused(
  { type, name }: AdmissionRequest,
  why: string,
  causes?: NonNullable<StatusDetails['causes']>,
): StatusError {
  return forbidden(type, name, why, causes);
}

/** Returns whether a request is about objects of a resource, not about a subresource. */
export function isAbout({ type, subresource }: AdmissionRequest, group: string, resource: string): boolean {
  return type.group === group && type.resource === resource && subresource === '';
}

/** Returns the object of a request that creates one of that resource, else undefined. */
export function created(request: AdmissionRequest, group: string, resource: string): JsonObject | undefined {
  return request.operation === 'CREATE' && isAbout(request, group, resource) ? request.object : undefined;
}

export function isWrite({ operation }: AdmissionRequest): boolean {
  return operation === 'CREATE' || operation === 'UPDATE';
}
