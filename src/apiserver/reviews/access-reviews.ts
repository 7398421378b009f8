import { child, text, texts } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { missingText } from '../authorization/rbac.js';
import type { User } from '../contracts/user.js';
import type { FieldProblem } from '../schema/validate.js';
import {
  answeredAttributes,
  attributeProblems,
  attributesOf,
  metadataProblems,
  selectorProblems,
  selectorWarnings,
  shownPath,
  subjectOf,
} from './access-attributes.js';
import { invalid, invalidField, type ReviewDependencies, type ReviewHandler } from './review.js';
import { pick, typeOf } from './review-object.js';

const NO_METADATA = 'must be empty';

/** Decides about an action of a named user. */
export const subjectAccessReview: ReviewHandler = async ({ object, admit }, dependencies) => {
  const spec = child(object, 'spec') ?? {};
  refuse([...subjectProblems(spec), ...metadataProblems(object, [], NO_METADATA)]);
  await admit(object);
  return { ...answered(object, spec), status: accessStatus(spec, subjectOf(spec), dependencies) };
};

/** Decides about an action of a named user in the namespace of the path. */
export const localSubjectAccessReview: ReviewHandler = async ({ object, namespace, admit }, dependencies) => {
  const spec = child(object, 'spec') ?? {};
  const metadata = child(object, 'metadata') ?? {};
  // Defaults to that of the path before any check, as for every object.
  const objectNamespace = text(metadata, 'namespace') || namespace;
  if (objectNamespace !== namespace) {
    const problem = 'the namespace of the provided object does not match the namespace sent on the request';
    throw new StatusError('BadRequest', problem);
  }
  const filled = { ...object, metadata: { ...metadata, namespace: objectNamespace } };
  refuse([
    ...subjectProblems(spec),
    ...metadataProblems(filled, ['namespace'], 'must be empty except for namespace'),
    ...localProblems(spec, objectNamespace),
  ]);
  await admit(filled);
  return { ...answered(filled, spec), status: accessStatus(spec, subjectOf(spec), dependencies) };
};

/** Decides about an action of the user of the request. */
export const selfSubjectAccessReview: ReviewHandler = async ({ object, user, admit }, dependencies) => {
  const spec = child(object, 'spec') ?? {};
  refuse([...attributeProblems(spec), ...selectorProblems(spec), ...metadataProblems(object, [], NO_METADATA)]);
  await admit(object);
  return {
    ...typeOf(object),
    metadata: {},
    spec: answeredAttributes(spec),
    status: accessStatus(spec, user, dependencies),
  };
};

/** Returns the rules of the user of the request in a namespace. */
export const selfSubjectRulesReview: ReviewHandler = async ({ object, user, admit }, { rulesFor }) => {
  const namespace = text(child(object, 'spec'), 'namespace');
  if (namespace === '') throw new StatusError('BadRequest', 'no namespace on request');
  await admit(object);
  const { rules, missingRoles } = rulesFor(user, namespace);
  const resourceRules = rules
    .filter(({ resources }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => rule(verbs, { apiGroups, resources, resourceNames }));
  const nonResourceRules = rules
    .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => rule(verbs, { nonResourceURLs }));
  const evaluationError = missingRoles.length === 0 ? {} : { evaluationError: missingText(missingRoles) };
  return {
    ...typeOf(object),
    metadata: {},
    // kube-apiserver's answer has an empty spec.
    spec: {},
    status: { resourceRules, nonResourceRules, incomplete: false, ...evaluationError },
  };
};

function rule(verbs: readonly string[], lists: Readonly<Record<string, readonly string[]>>): JsonObject {
  const filled = Object.entries(lists).filter(([, values]) => values.length > 0);
  return { verbs: [...verbs], ...Object.fromEntries(filled.map(([key, values]) => [key, [...values]])) };
}

function subjectProblems(spec: JsonObject): FieldProblem[] {
  const isNobody = text(spec, 'user') === '' && texts(spec, 'groups').length === 0;
  return [
    ...attributeProblems(spec),
    ...(isNobody ? [invalidField('spec.user', '', 'at least one of user or group must be specified')] : []),
    ...selectorProblems(spec),
  ];
}

function localProblems(spec: JsonObject, namespace: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const resource = child(spec, 'resourceAttributes');
  const asked = text(resource, 'namespace');
  if (resource && asked !== namespace) {
    problems.push(invalidField('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  const path = child(spec, 'nonResourceAttributes');
  if (path) {
    problems.push(invalidField('spec.nonResourceAttributes', shownPath(path), 'disallowed on this kind of request'));
  }
  return problems;
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '', name: '' }, problems);
}

function answered(object: JsonObject, spec: JsonObject): JsonObject {
  const metadata = child(object, 'metadata') ?? {};
  return {
    ...typeOf(object),
    metadata: pick(metadata, ['namespace']),
    spec: { ...answeredAttributes(spec), ...pick(spec, ['user', 'groups', 'extra', 'uid']) },
  };
}

function accessStatus(spec: JsonObject, user: User, { authorizer }: ReviewDependencies): JsonObject {
  const { allowed, reason } = authorizer.authorize(attributesOf(spec, user));
  const evaluationError = selectorWarnings(spec);
  return {
    allowed,
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}
