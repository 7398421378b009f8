import { isObject, type Json, type JsonObject, jsonEqual, member, objectMember } from '../../kube/json.js';
import { type FieldProblem, forbidden, invalid, required } from '../schema/field-problems.js';
import { patternProblem } from '../schema/go-pattern.js';
import { listIn, objectIn, textIn } from './definition.js';
import { saidMembers } from './shown-definition.js';
import { schemasIn } from './sub-schemas.js';

type Level = 'root' | 'item' | 'field';

const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }];
const UNSUPPORTED = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'];

/**
 * Returns why a schema is not structural, sorted as in kube-apiserver. Pruning and defaulting follow the
 * structure alone, so every member of a value must be declared outside of `allOf` and its like.
 */
export function structuralProblems(openApi: JsonObject, path: string): FieldProblem[] {
  const problems = [...invariantProblems(openApi, 'root', path), ...completenessProblems(openApi, openApi, path, path)];
  const text = ({ field, message }: FieldProblem): string => `${field}: ${message}`;
  return problems.sort((left, right) => (text(left) < text(right) ? -1 : text(left) > text(right) ? 1 : 0));
}

/** Returns the message about the first member that no structural schema can have. */
export function unsupportedText(openApi: JsonObject): string | undefined {
  for (const name of UNSUPPORTED) {
    const value = member(openApi, name);
    const isSaid = name === 'additionalItems' ? value !== undefined && value !== null : isFilled(value);
    if (isSaid) return `OpenAPIV3Schema '${name === '$schema' ? 'schema' : name}' is not supported`;
  }
  if (Array.isArray(openApi['items']) && openApi['items'].length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  }
  if (openApi['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  return undefined;
}

function isFilled(value: Json | undefined): boolean {
  if (isObject(value)) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '';
}

function invariantProblems(node: JsonObject, level: Level, path: string): FieldProblem[] {
  const additional = member(node, 'additionalProperties');
  const items = schemasIn(node, 'items');
  const fields = [...schemasIn(node, 'properties'), ...schemasIn(node, 'additionalProperties')];
  return [
    ...(textIn(node, 'type') === 'array' && items.length === 0 ? [required(`${path}.items`, 'must be specified')] : []),
    ...items.flatMap(([at, each]) => invariantProblems(each, 'item', `${path}.${at}`)),
    ...fields.flatMap(([at, each]) => invariantProblems(each, 'field', `${path}.${at}`)),
    ...(level === 'root' && additional !== undefined && additional !== null
      ? [forbidden(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...extensionProblems(node, path),
    ...alternativeProblems(node, path, isIntOrString(node['anyOf']), isIntOrString(firstAnyOf(node))),
    ...typeProblems(node, level, path),
    ...identityProblems(node, level, path),
  ];
}

function isIntOrString(anyOf: Json | undefined): boolean {
  return jsonEqual(anyOf, INT_OR_STRING);
}

function firstAnyOf(node: JsonObject): Json | undefined {
  const [first] = listIn(node, 'allOf');
  return isObject(first) ? member(first, 'anyOf') : undefined;
}

function extensionProblems(node: JsonObject, path: string): FieldProblem[] {
  if (node['x-kubernetes-int-or-string'] !== true) return [];
  return ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']
    .filter((name) => node[name] === true)
    .map((name) => invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
}

function typeProblems(node: JsonObject, level: Level, path: string): FieldProblem[] {
  const type = textIn(node, 'type');
  const isEmbedded = node['x-kubernetes-embedded-resource'] === true;
  const preserves = node['x-kubernetes-preserve-unknown-fields'] === true;
  const additional = member(node, 'additionalProperties');
  const problems: FieldProblem[] = [];
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    problems.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (type === '' && node['x-kubernetes-int-or-string'] !== true && !preserves) {
    const where = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' }[
      level
    ];
    problems.push(required(`${path}.type`, `must not be empty ${where}`));
  }
  if (isEmbedded && additional !== undefined && additional !== null) {
    problems.push(
      forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    problems.push(invalid(`${path}.type`, type, 'must be object at the root'));
  }
  if (isEmbedded && !preserves && Object.keys(objectMember(node, 'properties')).length === 0) {
    const when = 'x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    problems.push(required(`${path}.properties`, `must not be empty if ${when}`));
  }
  return problems;
}

/** The type of `metadata` is fixed: a definition may only restrict its names. */
function identityProblems(node: JsonObject, level: Level, path: string): FieldProblem[] {
  const properties = objectMember(node, 'properties');
  const isWhole = level === 'root' || node['x-kubernetes-embedded-resource'] === true;
  const problems: FieldProblem[] = [];
  for (const name of ['kind', 'apiVersion']) {
    const each = objectIn(properties, name);
    if (!isWhole || each === undefined || textIn(each, 'type') === 'string') continue;
    problems.push(invalid(`${path}.properties[${name}].type`, textIn(each, 'type'), 'must be string'));
  }
  const metadata = objectIn(properties, 'metadata');
  if (metadata === undefined) return problems;
  const field = `${path}.properties[metadata]`;
  if (isWhole && textIn(metadata, 'type') !== 'object') {
    problems.push(invalid(`${field}.type`, textIn(metadata, 'type'), 'must be object'));
  }
  if (level === 'root' && saysMoreThanNames(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    problems.push(forbidden(field, detail));
  }
  return problems;
}

function saysMoreThanNames(metadata: JsonObject): boolean {
  const names = Object.keys(objectMember(metadata, 'properties'));
  const hasOnlyNames = names.every((name) => name === 'name' || name === 'generateName');
  return saidMembers(metadata).some(
    (name) => name !== 'Type' && name !== 'Default' && (name !== 'Properties' || !hasOnlyNames),
  );
}

function alternativeProblems(node: JsonObject, path: string, skipsAnyOf: boolean, skipsFirst: boolean): FieldProblem[] {
  const nested = (name: string): FieldProblem[] =>
    schemasIn(node, name).flatMap(([at, each]) =>
      nestedProblems(each, `${path}.${at}`, at === 'allOf[0]' && skipsFirst),
    );
  const pattern = textIn(node, 'pattern');
  const defect = pattern === '' ? undefined : patternProblem(pattern);
  return [
    ...(skipsAnyOf ? [] : nested('anyOf')),
    ...nested('allOf'),
    ...nested('oneOf'),
    ...nested('not'),
    ...(defect === undefined
      ? []
      : [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${defect}`)]),
  ];
}

/** Members that are forbidden below `allOf` and its like, with the messages of kube-apiserver. */
const FORBIDDEN_BELOW: readonly (readonly [name: string, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nestedProblems(node: JsonObject, path: string, skipsAnyOf: boolean): FieldProblem[] {
  const below = [...schemasIn(node, 'items'), ...schemasIn(node, 'properties')];
  const said = FORBIDDEN_BELOW.filter(([name]) => {
    const value = member(node, name);
    if (value === undefined || value === null || value === false || value === '') return false;
    return !(Array.isArray(value) && value.length === 0);
  });
  return [
    ...alternativeProblems(node, path, skipsAnyOf, false),
    ...below.flatMap(([at, each]) => nestedProblems(each, `${path}.${at}`, false)),
    ...said.map(([name, detail]) => forbidden(`${path}.${name}`, detail)),
    ...(Object.hasOwn(objectMember(node, 'properties'), 'metadata')
      ? [forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}

/** Every member that an alternative restricts must be declared beside the alternatives. */
function completenessProblems(node: JsonObject, declared: JsonObject, at: string, path: string): FieldProblem[] {
  return ['not', 'allOf', 'anyOf', 'oneOf']
    .flatMap((name) => schemasIn(node, name))
    .flatMap(([name, each]) => nestedCompleteness(each, declared, at, `${path}.${name}`));
}

function nestedCompleteness(
  node: JsonObject,
  declared: JsonObject | undefined,
  at: string,
  path: string,
): FieldProblem[] {
  if (declared === undefined) return [required(at, `because it is defined in ${path}`)];
  const membersOf = (schema: JsonObject) => [...schemasIn(schema, 'items'), ...schemasIn(schema, 'properties')];
  const declaredBelow = new Map(membersOf(declared));
  return [
    ...completenessProblems(node, declared, at, path),
    ...membersOf(node).flatMap(([name, each]) =>
      nestedCompleteness(each, declaredBelow.get(name), `${at}.${name}`, `${path}.${name}`),
    ),
  ];
}
