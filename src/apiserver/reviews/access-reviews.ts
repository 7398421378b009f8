import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { text } from '../authorization/policy-rule.js';
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
import { part, pick, texts, typeOf } from './review-object.js';

const NO_METADATA = 'must be empty';

/** May somebody else do something? */
export const subjectAccessReview: ReviewHandler = async ({ object, admit }, dependencies) => {
  const spec = part(object, 'spec') ?? {};
  refuse([...subjectProblems(spec), ...metadataProblems(object, [], NO_METADATA)]);
  await admit(object);
  return { ...answered(object, spec), status: accessStatus(spec, subjectOf(spec), dependencies) };
};

/** The same, asked by somebody who may ask about one namespace only. */
export const localSubjectAccessReview: ReviewHandler = async ({ object, namespace, admit }, dependencies) => {
  const spec = part(object, 'spec') ?? {};
  const metadata = part(object, 'metadata') ?? {};
  // Filled in from the path before anything is checked, like that of every object.
  const own = text(metadata, 'namespace') || namespace;
  if (own !== namespace) {
    const problem = 'the namespace of the provided object does not match the namespace sent on the request';
    throw new StatusError('BadRequest', problem);
  }
  const filled = { ...object, metadata: { ...metadata, namespace: own } };
  refuse([
    ...subjectProblems(spec),
    ...metadataProblems(filled, ['namespace'], 'must be empty except for namespace'),
    ...localProblems(spec, own),
  ]);
  await admit(filled);
  return { ...answered(filled, spec), status: accessStatus(spec, subjectOf(spec), dependencies) };
};

/** May I? */
export const selfSubjectAccessReview: ReviewHandler = async ({ object, user, admit }, dependencies) => {
  const spec = part(object, 'spec') ?? {};
  refuse([...attributeProblems(spec), ...selectorProblems(spec), ...metadataProblems(object, [], NO_METADATA)]);
  await admit(object);
  return {
    ...typeOf(object),
    metadata: {},
    spec: answeredAttributes(spec),
    status: accessStatus(spec, user, dependencies),
  };
};

/** What may I do in a namespace? */
export const selfSubjectRulesReview: ReviewHandler = async ({ object, user, admit }, { rulesFor }) => {
  const namespace = text(part(object, 'spec'), 'namespace');
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
    // kube-apiserver answers without what was asked.
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
  const resource = part(spec, 'resourceAttributes');
  const asked = text(resource, 'namespace');
  if (resource && asked !== namespace) {
    problems.push(invalidField('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  const path = part(spec, 'nonResourceAttributes');
  if (path) {
    problems.push(invalidField('spec.nonResourceAttributes', shownPath(path), 'disallowed on this kind of request'));
  }
  return problems;
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '', name: '' }, problems);
}

function answered(object: JsonObject, spec: JsonObject): JsonObject {
  const metadata = part(object, 'metadata') ?? {};
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
