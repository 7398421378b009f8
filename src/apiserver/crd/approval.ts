import { type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { type FieldProblem, invalid, required } from '../schema/field-problems.js';
import { type DefinitionCondition, textIn } from './definition.js';

const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';
const MORE = 'see https://github.com/kubernetes/enhancements/pull/1111';

interface Approval {
  readonly state: 'invalid' | 'approved' | 'bypassed' | 'missing';
  readonly reason: string;
}

/** Groups of the Kubernetes project, whose definitions must name their approval. */
function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((owner) => group === owner || group.endsWith(`.${owner}`));
}

function approvalOf(crd: JsonObject): Approval {
  const annotation = annotationOf(crd);
  const wanted = `protected groups must have approval annotation ${JSON.stringify(APPROVAL_ANNOTATION)}`;
  if (annotation === '') return { state: 'missing', reason: `${wanted}, ${MORE}` };
  if (annotation.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${JSON.stringify(annotation)}` };
  }
  if (URL.canParse(annotation) && /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(annotation)) {
    return { state: 'approved', reason: `approved in ${annotation}` };
  }
  return { state: 'invalid', reason: `${wanted} with either a URL or a reason starting with "unapproved", ${MORE}` };
}

export function approvalProblems(crd: JsonObject, group: string, live: JsonObject | undefined): FieldProblem[] {
  if (!isProtectedGroup(group)) return [];
  const { state, reason } = approvalOf(crd);
  if (live !== undefined && approvalOf(live).state === state) return [];
  const field = `metadata.annotations[${APPROVAL_ANNOTATION}]`;
  if (state === 'missing') return [required(field, reason)];
  return state === 'invalid' ? [invalid(field, annotationOf(crd), reason)] : [];
}

export function approvalCondition(crd: JsonObject, group: string): DefinitionCondition | undefined {
  if (!isProtectedGroup(group)) return undefined;
  const { state, reason: message } = approvalOf(crd);
  const reasons = {
    invalid: 'InvalidAnnotation',
    missing: 'MissingAnnotation',
    approved: 'ApprovedAnnotation',
    bypassed: 'UnapprovedAnnotation',
  };
  const status = state === 'approved' ? 'True' : 'False';
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason: reasons[state], message };
}

function annotationOf(crd: JsonObject): string {
  return textIn(objectMember(metadataOf(crd), 'annotations'), APPROVAL_ANNOTATION);
}
