import { child, objects, text, texts } from '../../kube/fields.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';
import type { Attributes } from '../authorization/authorizer.js';
import type { User } from '../contracts/user.js';
import type { FieldProblem } from '../schema/validate.js';
import { parseFieldSelector } from '../select/field-selector.js';
import { labelSelectorFromObject, parseLabelSelector } from '../select/label-selector.js';
import { labelKeyProblems, labelValueProblems } from '../values/object-meta.js';
import { forbiddenField, invalidField, requiredField } from './review.js';
import { pick } from './review-object.js';

const RESOURCE_PATH = 'spec.resourceAttributes';
const RESOURCE_KEYS = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

/** Returns the action of an access review, which was validated before. */
export function attributesOf(spec: JsonObject, user: User): Attributes {
  const resource = child(spec, 'resourceAttributes');
  if (!resource) {
    const path = child(spec, 'nonResourceAttributes') ?? {};
    return { user, verb: text(path, 'verb'), path: text(path, 'path') };
  }
  return {
    user,
    verb: text(resource, 'verb'),
    group: text(resource, 'group'),
    version: text(resource, 'version') || '*',
    resource: text(resource, 'resource'),
    subresource: text(resource, 'subresource'),
    namespace: text(resource, 'namespace'),
    name: text(resource, 'name'),
  };
}

/** Returns both kinds of attributes in the form of the answer. */
export function answeredAttributes(spec: JsonObject): JsonObject {
  const answered: JsonObject = {};
  const resource = child(spec, 'resourceAttributes');
  if (resource) {
    const selectors = ['fieldSelector', 'labelSelector'].flatMap((key) => {
      const selector = child(resource, key);
      return selector ? [[key, pick(selector, ['rawSelector', 'requirements'])] as const] : [];
    });
    answered.resourceAttributes = { ...pick(resource, RESOURCE_KEYS), ...Object.fromEntries(selectors) };
  }
  const path = child(spec, 'nonResourceAttributes');
  if (path) answered.nonResourceAttributes = pick(path, ['path', 'verb']);
  return answered;
}

export function attributeProblems(spec: JsonObject): FieldProblem[] {
  const resource = child(spec, 'resourceAttributes');
  const path = child(spec, 'nonResourceAttributes');
  if (resource && path) {
    const problem = 'cannot be specified in combination with resourceAttributes';
    return [invalidField('spec.nonResourceAttributes', shownPath(path), problem)];
  }
  if (resource || path) return [];
  const problem = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidField(RESOURCE_PATH, null, problem)];
}

/** kube-apiserver prints its internal structure. */
export function shownPath(path: JsonObject): JsonObject {
  return { Path: text(path, 'path'), Verb: text(path, 'verb') };
}

export function selectorProblems(spec: JsonObject): FieldProblem[] {
  const resource = child(spec, 'resourceAttributes');
  if (!resource) return [];
  return [
    ...problemsOfSelector(resource, 'fieldSelector', fieldRequirementProblems),
    ...problemsOfSelector(resource, 'labelSelector', labelRequirementProblems),
  ];
}

type Check = (requirement: JsonObject, path: string) => FieldProblem[];

function problemsOfSelector(resource: JsonObject, key: string, check: Check): FieldProblem[] {
  const selector = child(resource, key);
  if (!selector) return [];
  const path = `${RESOURCE_PATH}.${key}`;
  const problems: FieldProblem[] = [];
  const raw = text(selector, 'rawSelector');
  const requirements = objects(selector, 'requirements');
  if (raw !== '' && requirements.length > 0) {
    problems.push(invalidField(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'));
  }
  if (raw === '' && requirements.length === 0) {
    const problem = `when ${path} is specified, requirements or rawSelector is required`;
    problems.push(requiredField(`${path}.requirements`, problem));
  }
  return [...problems, ...requirements.flatMap((each, index) => check(each, `${path}.requirements[${index}]`))];
}

function fieldRequirementProblems(requirement: JsonObject, path: string): FieldProblem[] {
  const key = text(requirement, 'key') === '' ? [requiredField(`${path}.key`, 'must be specified')] : [];
  return [...key, ...valuesProblems(requirement, path)];
}

function labelRequirementProblems(requirement: JsonObject, path: string): FieldProblem[] {
  const key = text(requirement, 'key');
  return [
    ...valuesProblems(requirement, path),
    ...labelKeyProblems(key).map((problem) => invalidField(`${path}.key`, key, problem)),
    ...texts(requirement, 'values').flatMap((value, index) =>
      labelValueProblems(value).map((problem) => invalidField(`${path}.values[${index}]`, value, problem)),
    ),
  ];
}

/** Unknown operators may be from newer clients and are accepted. */
function valuesProblems(requirement: JsonObject, path: string): FieldProblem[] {
  const operator = text(requirement, 'operator');
  const hasValues = texts(requirement, 'values').length > 0;
  if ((operator === 'In' || operator === 'NotIn') && !hasValues) {
    return [requiredField(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && hasValues) {
    return [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

/** Returns which selectors could not be parsed, and so were ignored; empty for none. */
export function selectorWarnings(spec: JsonObject): string {
  const resource = child(spec, 'resourceAttributes');
  if (!resource) return '';
  const selectors = [
    ['fieldSelector', isFieldText, isFieldRequirement],
    ['labelSelector', isLabelText, isLabelRequirement],
  ] as const;
  return selectors
    .flatMap(([key, isText, isRequirement]) => {
      const selector = child(resource, key);
      const ignored = selector && ignoredPart(selector, isText, isRequirement);
      return ignored ? [`${RESOURCE_PATH}.${key} ${ignored} due to parse error`] : [];
    })
    .join('; ');
}

function ignoredPart(
  selector: JsonObject,
  isText: (text: string) => boolean,
  isRequirement: (requirement: JsonObject) => boolean,
): 'ignored' | 'partially ignored' | undefined {
  const requirements = objects(selector, 'requirements');
  if (requirements.length === 0) return isText(text(selector, 'rawSelector')) ? undefined : 'ignored';
  const understood = requirements.filter(isRequirement).length;
  if (understood === requirements.length) return undefined;
  return understood > 0 ? 'partially ignored' : 'ignored';
}

const isFieldText = (selector: string): boolean => succeeds(() => parseFieldSelector(selector));
const isLabelText = (selector: string): boolean => succeeds(() => parseLabelSelector(selector));

function isFieldRequirement(requirement: JsonObject): boolean {
  const operator = text(requirement, 'operator');
  return (operator === 'In' || operator === 'NotIn') && texts(requirement, 'values').length === 1;
}

function isLabelRequirement(requirement: JsonObject): boolean {
  const expression = {
    key: text(requirement, 'key'),
    operator: text(requirement, 'operator'),
    values: texts(requirement, 'values'),
  };
  return succeeds(() => labelSelectorFromObject({ matchExpressions: [expression] }));
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** Returns the user that a SubjectAccessReview names. */
export function subjectOf(spec: JsonObject): User {
  const extra = child(spec, 'extra') ?? {};
  const keys = Object.keys(extra).filter((key) => Array.isArray(member(extra, key)));
  return {
    name: text(spec, 'user'),
    uid: text(spec, 'uid'),
    groups: texts(spec, 'groups'),
    extra: new Map(keys.map((key) => [key, texts(extra, key)])),
  };
}

/** In the order of messages. */
const METADATA_KEYS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
];

/** Returns problems of metadata that must be empty; managed fields are ignored. */
export function metadataProblems(object: JsonObject, allowed: readonly string[], problem: string): FieldProblem[] {
  const metadata = member(object, 'metadata');
  if (!isObject(metadata)) return [];
  const { managedFields: _, ...rest } = metadata;
  const filled = pick(rest, METADATA_KEYS);
  const extra = Object.keys(filled).filter((key) => !allowed.includes(key) && !isEmptyObject(filled[key]));
  return extra.length > 0 ? [invalidField('metadata', filled, problem)] : [];
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
