import type { AdmissionRequest, AdmissionType } from '../admission/admission.js';
import { isNamespace } from '../registry/metadata.js';
import type { ApiCall } from './api-call.js';

type AdmissionCall = Pick<ApiCall, 'info' | 'user' | 'warnings'> & { readonly type: AdmissionType };

/** The parts of an admission request that its call does not determine. `name` defaults to that of the path. */
type Parts = Pick<AdmissionRequest, 'operation' | 'object' | 'oldObject' | 'options' | 'dryRun'> &
  Partial<Pick<AdmissionRequest, 'name' | 'subresource'>>;

export function admissionRequest(call: AdmissionCall, parts: Parts): AdmissionRequest {
  const { type, info, user, warnings } = call;
  const { operation, object, oldObject, options, dryRun, name = info.name, subresource = info.subresource } = parts;
  // Member by member: a spread took a tenth of the time of a create.
  return {
    operation,
    object,
    oldObject,
    options,
    dryRun,
    type,
    subresource,
    name,
    pathName: info.name,
    verb: info.verb,
    // Admission sees a Namespace in the namespace of its name.
    namespace: isNamespace(type) ? name : type.namespaced ? info.namespace : '',
    user,
    warn: (text) => warnings.add(text),
  };
}
