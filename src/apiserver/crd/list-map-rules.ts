import { isObject, type JsonObject, member, objectMember } from '../../kube/json.js';
import { type FieldProblem, forbidden, invalid, required } from '../schema/field-problems.js';
import { objectIn, textIn, textsIn } from './definition.js';

const LIST_TYPE = 'x-kubernetes-list-type';
const KEYS = 'x-kubernetes-list-map-keys';

/** Checks that the keys of a list of type map are scalar members of its items. */
export function listMapProblems(node: JsonObject, path: string): FieldProblem[] {
  const listType = member(node, LIST_TYPE);
  const keys = textsIn(node, KEYS);
  const problems: FieldProblem[] = [];
  if (keys.length > 0 && listType !== 'map') {
    const detail = `must be map if ${KEYS} is non-empty`;
    const isAbsent = typeof listType !== 'string';
    problems.push(
      isAbsent ? required(`${path}.${LIST_TYPE}`, detail) : invalid(`${path}.${LIST_TYPE}`, listType, detail),
    );
  }
  if (listType !== 'map') return problems;
  if (keys.length === 0) problems.push(required(`${path}.${KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  const items = member(node, 'items');
  if (items === undefined || items === null) {
    problems.push(required(`${path}.items`, `must have a schema if ${LIST_TYPE} is map`));
  }
  if (!isObject(items)) return problems;
  if (textIn(items, 'type') !== 'object') {
    const detail = `must be object if parent array's ${LIST_TYPE} is map`;
    return [...problems, invalid(`${path}.items.type`, textIn(items, 'type'), detail)];
  }
  return [...problems, ...keyProblems(keys, items, path)];
}

function keyProblems(keys: readonly string[], items: JsonObject, path: string): FieldProblem[] {
  const properties = objectMember(items, 'properties');
  const seen = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const key of keys) {
    if (problems.length >= KEY_PROBLEMS_MAX) break;
    const each = objectIn(properties, key);
    const type = each === undefined ? '' : textIn(each, 'type');
    if (each === undefined) {
      problems.push(invalid(`${path}.${KEYS}`, [...keys], 'entries must all be names of item properties'));
    } else if (type === 'array' || type === 'object') {
      // kube-apiserver shows the type of the item, not that of the key.
      const detail = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
      problems.push(invalid(`${path}.items.properties[${key}].type`, 'object', detail));
    }
    if (seen.has(key)) problems.push(invalid(`${path}.${KEYS}`, [...keys], 'must not contain duplicate entries'));
    seen.add(key);
  }
  return problems;
}

/** Bound on problems that each may show all keys. */
const KEY_PROBLEMS_MAX = 10;

/** Keys identify an item: they must be required or have a default, and must not be nullable. */
export function nullableKeyProblems(node: JsonObject, path: string): FieldProblem[] {
  const listType = member(node, LIST_TYPE);
  const items = objectIn(node, 'items');
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const problems: FieldProblem[] = [];
  if (items['nullable'] === true) {
    problems.push(forbidden(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${listType}`));
  }
  if (listType === 'set') return problems;
  const needed = new Set(textsIn(items, 'required'));
  for (const key of textsIn(node, KEYS)) {
    const each = objectIn(objectMember(items, 'properties'), key);
    if (each === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const why = `this property is in ${KEYS}, so it`;
    if (!needed.has(key) && (each['default'] ?? null) === null) {
      problems.push(required(`${field}.default`, `${why} must have a default or be a required property`));
    }
    if (each['nullable'] === true) problems.push(forbidden(`${field}.nullable`, `${why} cannot be nullable`));
  }
  return problems;
}
