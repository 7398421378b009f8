import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { ANY, memberSchema, type Schema } from '../schema/schema.js';
import { goText } from '../values/go-text.js';
import { fieldElement, formatPath, ItemError, itemElement } from './path-element.js';
import { isAtomic, shapeOf } from './structure.js';
import type { Writer } from './track-update.js';

/** An applied configuration that is not valid for its kind. */
export class AppliedObjectError extends Error {
  constructor(
    readonly reason: 'BadRequest' | 'InternalError',
    message: string,
  ) {
    super(message);
    this.name = 'AppliedObjectError';
  }
}

/** Bound on the reported problems. */
const PROBLEMS_MAX = 100;

/** Throws AppliedObjectError for an applied object with undeclared fields, wrong types or duplicate items. */
export function checkApplied(applied: JsonObject, writer: Writer): void {
  const { apiVersion, kind } = applied;
  if (apiVersion !== writer.apiVersion) {
    throw new AppliedObjectError('BadRequest', `invalid object type: ${goVersion(apiVersion)}, Kind=${kind}`);
  }
  const meta = metadataOf(applied);
  if (Array.isArray(member(meta, 'managedFields'))) {
    throw new AppliedObjectError('BadRequest', 'metadata.managedFields must be nil');
  }
  const problems: string[] = [];
  check(applied, writer.schema, [], problems);
  if (problems.length === 0) return;
  const place = `${meta['namespace'] ?? ''}/${meta['name'] ?? ''}; ${goVersion(apiVersion)}, Kind=${kind}`;
  const text = problems.length === 1 ? `${problems[0]}` : `errors:\n${problems.map((each) => `  ${each}`).join('\n')}`;
  throw new AppliedObjectError('InternalError', `failed to create typed patch object (${place}): ${text}`);
}

/** Go prints the core group as an empty string before the slash. */
function goVersion(apiVersion: Json | undefined): string {
  const text = String(apiVersion ?? '');
  return text.includes('/') ? text : `/${text}`;
}

function check(value: Json, schema: Schema, path: readonly string[], problems: string[]): void {
  if (problems.length >= PROBLEMS_MAX || value === null) return;
  const shape = shapeOf(schema, value);
  const say = (text: string): void => void problems.push(path.length === 0 ? text : `${formatPath(path)}: ${text}`);
  if (shape === 'map') {
    if (isObject(value)) checkMembers(value, schema, path, problems);
    else say(`expected map, got &{${goText(value)}}`);
  } else if (shape === 'list') {
    if (Array.isArray(value)) checkItems(value, schema, path, problems);
    else say(`expected list, got &{${goText(value)}}`);
  } else if (schema.type !== undefined) {
    const expected = scalarProblem(value, schema);
    if (expected !== undefined) say(`expected ${expected}, got ${goScalar(value, schema)}`);
  }
}

function checkMembers(object: JsonObject, schema: Schema, path: readonly string[], problems: string[]): void {
  for (const name of Object.keys(object)) {
    const below = [...path, fieldElement(name)];
    const each = memberSchema(schema, name);
    if (each === undefined) problems.push(`${formatPath(below)}: field not declared in schema`);
    else check(object[name]!, each, below, problems);
  }
}

function checkItems(items: readonly Json[], schema: Schema, path: readonly string[], problems: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    let element = `i:${index}`;
    if (!isAtomic(schema, 'list')) {
      try {
        element = itemElement(schema, item);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        problems.push(`${formatPath(path)}: element ${index}: ${error.message}`);
        continue;
      }
      if (seen.has(element)) problems.push(`${formatPath(path)}: duplicate entries for key ${formatPath([element])}`);
      seen.add(element);
    }
    check(item, schema.items ?? ANY, [...path, element], problems);
  }
}

/** Returns the expected type; undefined if the value has it. */
function scalarProblem(value: Json, { type, format }: Schema): string | undefined {
  if (format === 'quantity' || format === 'int-or-string') {
    return typeof value === 'string' || typeof value === 'number' ? undefined : 'string';
  }
  if (type === 'string') return typeof value === 'string' ? undefined : 'string';
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'boolean';
  return typeof value === 'number' ? undefined : 'numeric (int or float)';
}

/** Go prints the value in one of two forms, depending on the expected type. */
function goScalar(value: Json, { type }: Schema): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : goText(value);
  return type === 'string' ? `&value.valueUnstructured{Value:${text}}` : `&{${goText(value)}}`;
}
