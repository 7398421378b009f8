import type { StatusDetails } from '../../../kube/status.js';
import { StatusError } from '../../../kube/status-error.js';
import type { AdmissionRequest } from '../admission.js';

/** `pods "x" is forbidden: …`, as admission refuses. */
export function refused(
  { type: { group, resource }, name }: AdmissionRequest,
  why: string,
  causes?: NonNullable<StatusDetails['causes']>,
): StatusError {
  const what = group === '' ? resource : `${resource}.${group}`;
  const subject = name === '' ? what : `${what} ${JSON.stringify(name)}`;
  return new StatusError('Forbidden', `${subject} is forbidden: ${why}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
    ...(causes === undefined ? {} : { causes }),
  });
}

/** Whether a request is about objects of a resource themselves, none of their parts. */
export function isAbout({ type, subresource }: AdmissionRequest, group: string, resource: string): boolean {
  return type.group === group && type.resource === resource && subresource === '';
}
