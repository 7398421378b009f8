import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../api/json.js';
import { type FieldProblem, FieldProblems, type ValidationOptions } from './field-problems.js';
import { ANY, memberSchema, type Schema } from './schema.js';
import { checkNumber, checkString } from './validate-scalars.js';

export type { FieldProblem, ValidationOptions } from './field-problems.js';

/**
 * What is wrong with a custom resource by its schema, with the reasons, words and fields of kube-apiserver's `Invalid`
 * answers. Expects defaults to be set and unknown fields to be pruned.
 */
export function validateObject(object: JsonObject, schema: Schema, options: ValidationOptions = {}): FieldProblem[] {
  const problems = new FieldProblems(options);
  validate(object, schema, '', problems);
  return [...problems.all];
}

/** `spec.a: Required value`, several in brackets: the end of the message of an `Invalid` answer. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  const texts = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}

function validate(value: Json, schema: Schema, path: string, problems: FieldProblems): void {
  if (problems.isFull) return;
  if (value === null && schema.nullable === true) return;
  if (!hasType(value, schema, path, problems)) return;
  if (schema.enum !== undefined && !schema.enum.some((each) => jsonEqual(each, value))) {
    problems.unsupported(path, value, schema.enum);
  }
  if (isObject(value)) validateMembers(value, schema, path, problems);
  else if (Array.isArray(value)) validateItems(value, schema, path, problems);
  else if (typeof value === 'string') checkString(value, schema, path, problems);
  else if (typeof value === 'number') checkNumber(value, schema, path, problems);
}

function hasType(value: Json, schema: Schema, path: string, problems: FieldProblems): boolean {
  const actual = typeOf(value);
  if (schema.format === 'int-or-string') {
    if (actual === 'integer' || actual === 'string') return true;
    problems.wrongType(path, actual, 'integer,string');
    return false;
  }
  const { type } = schema;
  if (type === undefined || type === actual || (type === 'number' && actual === 'integer')) return true;
  problems.wrongType(path, actual, type);
  // A fraction is told everything that is wrong with it.
  if (type === 'integer' && typeof value === 'number') checkNumber(value, schema, path, problems);
  return false;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function validateMembers(object: JsonObject, schema: Schema, path: string, problems: FieldProblems): void {
  const names = Object.keys(object);
  const { minProperties, maxProperties } = schema.limits ?? {};
  if (minProperties !== undefined && names.length < minProperties) {
    problems.invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && names.length > maxProperties) problems.tooMany(path, names.length, maxProperties);
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) problems.required(join(path, name));
  }
  for (const name of names) validate(object[name]!, memberSchema(schema, name) ?? ANY, join(path, name), problems);
}

function validateItems(items: readonly Json[], schema: Schema, path: string, problems: FieldProblems): void {
  const { minItems, maxItems, uniqueItems } = schema.limits ?? {};
  if (minItems !== undefined && items.length < minItems) {
    problems.invalid(path, items.length, `${path} in body should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && items.length > maxItems) problems.tooMany(path, items.length, maxItems);
  for (const [index, item] of items.entries()) validate(item, schema.items ?? ANY, `${path}[${index}]`, problems);
  if (schema.listType === 'set' || uniqueItems === true) checkDistinct(items, (item) => item, path, problems);
  if (schema.listType === 'map') {
    checkDistinct(items, (item) => keysOf(item, schema.listKeys ?? []), path, problems);
  }
}

function keysOf(item: Json, names: readonly string[]): Json {
  if (!isObject(item)) return item;
  const keys = names.map((name) => [name, member(item, name)] as const);
  return Object.fromEntries(keys.filter(([, value]) => value !== undefined)) as JsonObject;
}

function checkDistinct(
  items: readonly Json[],
  keyOf: (item: Json) => Json,
  path: string,
  problems: FieldProblems,
): void {
  const seen = new Set<string>();
  const reported = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = JSON.stringify(sorted(keyOf(item)));
    if (seen.has(key) && !reported.has(key)) {
      problems.duplicate(`${path}[${index}]`, keyOf(item));
      reported.add(key);
    }
    seen.add(key);
  }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
