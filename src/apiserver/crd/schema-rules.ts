import { isObject, type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
import {
  type FieldProblem,
  forbidden,
  invalid,
  invalidText,
  notSupported,
  required,
} from '../schema/field-problems.js';
import { goJson } from '../schema/go-values.js';
import { listIn, objectIn, textIn } from './definition.js';
import { listMapProblems, nullableKeyProblems } from './list-map-rules.js';
import { ruleTextProblems } from './rule-texts.js';
import { schemasIn } from './sub-schemas.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const IDENTITY = ['metadata', 'kind', 'apiVersion'];
const NOT_SUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Whether the place is in `metadata`, `kind` or `apiVersion` of the object or of an embedded one. */
  readonly isInIdentity: boolean;
  /** The reason why a default is forbidden here. */
  readonly noDefaultReason: string | undefined;
}

/** Returns the uses of OpenAPI that kube-apiserver refuses in a definition, structural or not. */
export function schemaRuleProblems(openApi: JsonObject, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  visit(openApi, { path, isRoot: true, isInIdentity: false, noDefaultReason: undefined }, problems);
  return problems;
}

function visit(node: JsonObject, place: Place, problems: FieldProblem[]): void {
  const { path } = place;
  const below = (each: Json | undefined, name: string, more: Partial<Place> = {}): void => {
    if (isObject(each)) visit(each, { ...place, isRoot: false, path: `${path}.${name}`, ...more }, problems);
  };
  problems.push(...dialectProblems(node, place));
  visitMaps(node, place, below, problems);
  for (const name of ['not', 'allOf', 'oneOf', 'anyOf', 'definitions', 'items']) {
    for (const [at, each] of schemasIn(node, name)) below(each, at);
  }
  for (const [index, each] of listIn(node, 'items').entries()) below(each, `items[${index}]`);
  for (const [at, each] of schemasIn(node, 'dependencies')) below(each, at);
  problems.push(...extensionProblems(node, path), ...ruleTextProblems(node, path));
}

type Below = (each: Json | undefined, name: string, more?: Partial<Place>) => void;

/** An object is a struct with `properties` or a map with `additionalProperties`, not both. */
function visitMaps(
  node: JsonObject,
  { path, isRoot, isInIdentity }: Place,
  below: Below,
  problems: FieldProblem[],
): void {
  const additional = member(node, 'additionalProperties');
  const properties = Object.entries(objectMember(node, 'properties'));
  if (properties.length > 0 && (additional === false || isObject(additional))) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    problems.push(forbidden(`${path}.additionalProperties`, detail));
  }
  const reason = isInIdentity ? { noDefaultReason: 'inside additionalProperties applying to object metadata' } : {};
  below(additional, 'additionalProperties', reason);
  const isWhole = isRoot || node['x-kubernetes-embedded-resource'] === true;
  for (const [name, each] of properties) {
    const isIdentity = isWhole && IDENTITY.includes(name);
    below(each, `properties[${name}]`, {
      ...(isIdentity ? { isInIdentity: true } : {}),
      ...(isIdentity && isRoot ? { noDefaultReason: `in top-level ${name}` } : {}),
    });
  }
}

function dialectProblems(node: JsonObject, { path, isInIdentity, noDefaultReason }: Place): FieldProblem[] {
  const type = textIn(node, 'type');
  const items = member(node, 'items');
  const problems: FieldProblem[] = [];
  if (type !== '' && !TYPES.includes(type)) problems.push(notSupported(`${path}.type`, type, TYPES));
  if (isSaid(node['default']) && noDefaultReason !== undefined) {
    problems.push(forbidden(`${path}.default`, `must not be set ${noDefaultReason}`));
  }
  for (const name of NOT_SUPPORTED) {
    const value = member(node, name);
    const isEmpty =
      (isObject(value) && name !== 'additionalItems' && name !== 'dependencies' && Object.keys(value).length === 0) ||
      value === '';
    if (isSaid(value) && !isEmpty) problems.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  }
  if (type === 'null') {
    problems.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(items) && items.length > 0) {
    problems.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (isInIdentity && node['x-kubernetes-embedded-resource'] === true) {
    problems.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (node['uniqueItems'] === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    problems.push(forbidden(`${path}.uniqueItems`, detail));
  }
  return problems;
}

function extensionProblems(node: JsonObject, path: string): FieldProblem[] {
  const preserves = 'x-kubernetes-preserve-unknown-fields';
  return [
    ...(node[preserves] === false ? [invalid(`${path}.${preserves}`, false, 'must be true or undefined')] : []),
    ...TOPOLOGIES.flatMap((topology) => topologyProblems(node, path, topology)),
    ...setItemProblems(node, path),
    ...listMapProblems(node, path),
    ...nullableKeyProblems(node, path),
  ];
}

const TOPOLOGIES = [
  { extension: 'x-kubernetes-map-type', type: 'object', known: ['atomic', 'granular'] },
  { extension: 'x-kubernetes-list-type', type: 'array', known: ['atomic', 'set', 'map'] },
];
type Topology = (typeof TOPOLOGIES)[number];

function topologyProblems(node: JsonObject, path: string, { extension, type, known }: Topology): FieldProblem[] {
  const value = member(node, extension);
  if (typeof value !== 'string') return [];
  const actual = textIn(node, 'type');
  const problems: FieldProblem[] = [];
  if (actual !== type) {
    const detail = `must be ${type} if ${extension} is specified`;
    problems.push(actual === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, actual, detail));
  }
  if (!known.includes(value)) problems.push(notSupported(`${path}.${extension}`, value, known));
  return problems;
}

/** Items of a set are compared as a whole, so they must be atomic. */
function setItemProblems(node: JsonObject, path: string): FieldProblem[] {
  const items = objectIn(node, 'items');
  const isSet = textIn(node, 'x-kubernetes-list-type') === 'set' && textIn(node, 'type') === 'array';
  if (!isSet || items === undefined) return [];
  const listType = member(items, 'x-kubernetes-list-type') ?? null;
  const type = textIn(items, 'type');
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (type === 'array' && listType !== null && listType !== 'atomic') {
    return [invalidText(`${path}.items.x-kubernetes-list-type`, goJson(listType), detail)];
  }
  if (type === 'object' && member(items, 'x-kubernetes-map-type') !== 'atomic') {
    // kube-apiserver shows the type of the list, not that of the map.
    return [invalidText(`${path}.items.x-kubernetes-map-type`, goJson(listType), detail)];
  }
  return [];
}

function isSaid(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
