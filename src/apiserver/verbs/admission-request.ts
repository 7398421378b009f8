import type { AdmissionRequest, AdmissionType } from '../admission/admission.js';
import type { ApiCall } from './api-call.js';

type AdmissionCall = Pick<ApiCall, 'info' | 'user' | 'warnings'> & { readonly type: AdmissionType };

/** The parts of an admission request that its call does not determine; the name is that of the path unless given. */
type Parts = Pick<AdmissionRequest, 'operation' | 'object' | 'oldObject' | 'options' | 'dryRun'> &
  Partial<Pick<AdmissionRequest, 'name' | 'subresource'>>;

export function admissionRequest({ type, info, user, warnings }: AdmissionCall, parts: Parts): AdmissionRequest {
  return {
    type,
    subresource: info.subresource,
    namespace: type.namespaced ? info.namespace : '',
    name: info.name,
    user,
    warn: (text) => warnings.add(text),
    ...parts,
  };
}
