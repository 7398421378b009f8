import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import { type FieldProblem, forbidden, invalid, required } from '../schema/field-problems.js';
import { patternProblem } from '../schema/go-pattern.js';
import { listIn, objectIn, textIn } from './definition.js';
import { saidMembers } from './shown-definition.js';

type Level = 'root' | 'item' | 'field';

const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }];
const UNSUPPORTED = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'];

/**
 * What keeps a schema from being structural: pruning and defaulting follow structure alone, so everything that a value
 * may hold must be declared outside of `allOf` and its like. Sorted, as kube-apiserver does.
 */
export function structuralProblems(openApi: JsonObject, path: string): FieldProblem[] {
  const problems = [...invariantProblems(openApi, 'root', path), ...completenessProblems(openApi, openApi, path, path)];
  const text = ({ field, message }: FieldProblem): string => `${field}: ${message}`;
  return problems.sort((left, right) => (text(left) < text(right) ? -1 : text(left) > text(right) ? 1 : 0));
}

/** The first thing that cannot be part of a structural schema in any form. */
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
  const items = objectIn(node, 'items');
  const properties = objectIn(node, 'properties') ?? {};
  const additional = member(node, 'additionalProperties');
  return [
    ...(textIn(node, 'type') === 'array' && items === undefined
      ? [required(`${path}.items`, 'must be specified')]
      : []),
    ...(items === undefined ? [] : invariantProblems(items, 'item', `${path}.items`)),
    ...Object.entries(properties).flatMap(([name, each]) =>
      isObject(each) ? invariantProblems(each, 'field', `${path}.properties[${name}]`) : [],
    ),
    ...(level === 'root' && additional !== undefined && additional !== null
      ? [forbidden(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(isObject(additional) ? invariantProblems(additional, 'field', `${path}.additionalProperties`) : []),
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
  if (isEmbedded && !preserves && Object.keys(objectIn(node, 'properties') ?? {}).length === 0) {
    const when = 'x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    problems.push(required(`${path}.properties`, `must not be empty if ${when}`));
  }
  return problems;
}

/** `metadata` has a type of its own: a definition may only restrict its names. */
function identityProblems(node: JsonObject, level: Level, path: string): FieldProblem[] {
  const properties = objectIn(node, 'properties') ?? {};
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
  const names = Object.keys(objectIn(metadata, 'properties') ?? {});
  const hasOnlyNames = names.every((name) => name === 'name' || name === 'generateName');
  return saidMembers(metadata).some(
    (name) => name !== 'Type' && name !== 'Default' && (name !== 'Properties' || !hasOnlyNames),
  );
}

function alternativeProblems(node: JsonObject, path: string, skipsAnyOf: boolean, skipsFirst: boolean): FieldProblem[] {
  const nested = (name: string): FieldProblem[] =>
    listIn(node, name).flatMap((each, index) =>
      isObject(each)
        ? nestedProblems(each, `${path}.${name}[${index}]`, name === 'allOf' && index === 0 && skipsFirst)
        : [],
    );
  const not = objectIn(node, 'not');
  const pattern = textIn(node, 'pattern');
  const defect = pattern === '' ? undefined : patternProblem(pattern);
  return [
    ...(skipsAnyOf ? [] : nested('anyOf')),
    ...nested('allOf'),
    ...nested('oneOf'),
    ...(not === undefined ? [] : nestedProblems(not, `${path}.not`, false)),
    ...(defect === undefined
      ? []
      : [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${defect}`)]),
  ];
}

/** What may not stand below `allOf` and its like, with what kube-apiserver says of each. */
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
  const items = objectIn(node, 'items');
  const properties = objectIn(node, 'properties') ?? {};
  const said = FORBIDDEN_BELOW.filter(([name]) => {
    const value = member(node, name);
    if (value === undefined || value === null || value === false || value === '') return false;
    return !(Array.isArray(value) && value.length === 0);
  });
  return [
    ...alternativeProblems(node, path, skipsAnyOf, false),
    ...(items === undefined ? [] : nestedProblems(items, `${path}.items`, false)),
    ...Object.entries(properties).flatMap(([name, each]) =>
      isObject(each) ? nestedProblems(each, `${path}.properties[${name}]`, false) : [],
    ),
    ...said.map(([name, detail]) => forbidden(`${path}.${name}`, detail)),
    ...(Object.hasOwn(properties, 'metadata')
      ? [forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}

/** Everything that alternatives speak of must be declared where they stand. */
function completenessProblems(node: JsonObject, declared: JsonObject, at: string, path: string): FieldProblem[] {
  const not = objectIn(node, 'not');
  const all = ['allOf', 'anyOf', 'oneOf'].flatMap((name) =>
    listIn(node, name).flatMap((each, index) =>
      isObject(each) ? nestedCompleteness(each, declared, at, `${path}.${name}[${index}]`) : [],
    ),
  );
  return [...(not === undefined ? [] : nestedCompleteness(not, declared, at, `${path}.not`)), ...all];
}

function nestedCompleteness(
  node: JsonObject,
  declared: JsonObject | undefined,
  at: string,
  path: string,
): FieldProblem[] {
  if (declared === undefined) return [required(at, `because it is defined in ${path}`)];
  const items = objectIn(node, 'items');
  const properties = objectIn(declared, 'properties') ?? {};
  return [
    ...completenessProblems(node, declared, at, path),
    ...(items === undefined
      ? []
      : nestedCompleteness(items, objectIn(declared, 'items'), `${at}.items`, `${path}.items`)),
    ...Object.entries(objectIn(node, 'properties') ?? {}).flatMap(([name, each]) =>
      isObject(each)
        ? nestedCompleteness(
            each,
            objectIn(properties, name),
            `${at}.properties[${name}]`,
            `${path}.properties[${name}]`,
          )
        : [],
    ),
  ];
}
