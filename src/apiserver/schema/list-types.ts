import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { duplicate, type FieldProblem, invalid, PROBLEMS_MAX } from './field-problems.js';
import { goJson } from './go-values.js';
import { type Schema, walkValues } from './schema.js';

/**
 * Repeated items in lists of type set, and repeated keys in lists of type map. An object that had any
 * before an update may have others.
 */
export function listTypeProblems(object: JsonObject, live: JsonObject | undefined, schema: Schema): FieldProblem[] {
  const problems = problemsOf(object, schema);
  return problems.length > 0 && live !== undefined && problemsOf(live, schema).length > 0 ? [] : problems;
}

function problemsOf(object: JsonObject, schema: Schema): FieldProblem[] {
  const problems: FieldProblem[] = [];
  walkValues(object, schema, '', (value, { listType, listKeys = [] }, path) => {
    if (Array.isArray(value) && listType === 'set') checkDistinct(value, (item) => item, path, problems);
    if (Array.isArray(value) && listType === 'map') checkKeys(value, listKeys, path, problems);
    return problems.length < PROBLEMS_MAX;
  });
  return problems;
}

function checkKeys(items: readonly Json[], keys: readonly string[], path: string, problems: FieldProblem[]): void {
  const odd = items.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0) {
    problems.push(invalid(`${path}[${odd}]`, items[odd]!, 'must be an object for an array of list-type map'));
    return;
  }
  checkDistinct(items, (item) => keysOf(item, keys), path, problems);
}

function keysOf(item: Json, names: readonly string[]): Json {
  if (!isObject(item)) return {};
  const keys = names.map((name) => [name, member(item, name)] as const);
  return Object.fromEntries(keys.filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Records the first repetition of each item. */
function checkDistinct(
  items: readonly Json[],
  keyOf: (item: Json) => Json,
  path: string,
  problems: FieldProblem[],
): void {
  const counts = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = goJson(keyOf(item));
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === 2 && problems.length < PROBLEMS_MAX) problems.push(duplicate(`${path}[${index}]`, keyOf(item)));
  }
}
