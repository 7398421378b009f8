import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { duplicate, type FieldProblem, invalid, PROBLEMS_MAX } from './field-problems.js';
import { goJson } from './go-values.js';
import type { Schema } from './schema.js';

/** Items that stand twice in lists of type set, or have the keys of another in lists of type map. */
export function listTypeProblems(object: JsonObject, schema: Schema): FieldProblem[] {
  const problems: FieldProblem[] = [];
  visit(object, schema, '', problems);
  return problems;
}

/** Of an update: lists that held doubles before are left alone altogether. */
export function newListTypeProblems(object: JsonObject, live: JsonObject, schema: Schema): FieldProblem[] {
  const problems = listTypeProblems(object, schema);
  return problems.length > 0 && listTypeProblems(live, schema).length > 0 ? [] : problems;
}

function visit(value: Json, schema: Schema, path: string, problems: FieldProblem[]): void {
  if (problems.length >= PROBLEMS_MAX || schema.typeName !== undefined) return;
  if (Array.isArray(value)) {
    if (schema.listType === 'set') checkDistinct(value, (item) => item, path, problems);
    if (schema.listType === 'map') checkKeys(value, schema.listKeys ?? [], path, problems);
    const { items } = schema;
    if (items !== undefined)
      for (const [index, each] of value.entries()) visit(each, items, `${path}[${index}]`, problems);
    return;
  }
  if (!isObject(value)) return;
  const { properties, values } = schema;
  for (const name of Object.keys(value)) {
    const isDeclared = properties !== undefined && Object.hasOwn(properties, name);
    if (isDeclared) visit(value[name]!, properties[name]!, path === '' ? name : `${path}.${name}`, problems);
    else if (values !== undefined) visit(value[name]!, values, `${path}[${name}]`, problems);
  }
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

/** Only the first repetition of each is told. */
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
