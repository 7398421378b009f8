import type { JsonObject } from '../../../kube/json.js';
import { child, text } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout } from './refusal.js';

const ADMISSION_GROUP = 'admissionregistration.k8s.io';
const ENFORCE_LABEL = 'pod-security.kubernetes.io/enforce';
const WITH_VALIDATING_WEBHOOK = 'to enforce it, use a validating admission webhook or kube-apiserver';
const WITH_MUTATING_WEBHOOK = 'to have its effect, use a mutating admission webhook or kube-apiserver';

interface Unenforced {
  readonly group: string;
  readonly resource: string;
  readonly warning: string;
  /** Returns whether an object has an effect in kube-apiserver; by default all have one. */
  readonly hasEffect?: (object: JsonObject) => boolean;
}

/** One row for each kind that kube-apiserver enforces and this server only stores. */
const UNENFORCED: readonly Unenforced[] = [
  {
    group: '',
    resource: 'resourcequotas',
    warning: `this API server stores ResourceQuota objects but does not enforce them: nothing in the namespace is limited; ${WITH_VALIDATING_WEBHOOK}`,
  },
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].map((kind) =>
    policyRow(kind, 'no request is refused because of it', WITH_VALIDATING_WEBHOOK),
  ),
  ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map((kind) =>
    policyRow(kind, 'no object is changed because of it', WITH_MUTATING_WEBHOOK),
  ),
  {
    group: '',
    resource: 'namespaces',
    warning: `this API server stores the label ${ENFORCE_LABEL} but does not enforce it: pods of every security level are accepted; ${WITH_VALIDATING_WEBHOOK}`,
    hasEffect: (object) =>
      !['', 'privileged'].includes(text(child(child(object, 'metadata'), 'labels'), ENFORCE_LABEL)),
  },
];

function policyRow(kind: string, consequence: string, instead: string): Unenforced {
  const resource = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return {
    group: ADMISSION_GROUP,
    resource: resource.toLowerCase(),
    warning: `this API server stores ${kind} objects but does not enforce them: ${consequence}; ${instead}`,
  };
}

/** Warns clients that write an object which only kube-apiserver would enforce. */
export function notEnforced(): AdmissionPlugin {
  return {
    name: 'NotEnforced',
    validate: (request) => {
      const { object, operation } = request;
      if (object === undefined || operation === 'DELETE') return;
      for (const { group, resource, warning, hasEffect } of UNENFORCED) {
        if (isAbout(request, group, resource) && hasEffect?.(object) !== false) request.warn(warning);
      }
    },
  };
}
