import { runAtOnce } from '../../base/work-slices.js';
import type { JsonObject } from '../../kube/json.js';
import { Correlation } from './correlation.js';
import { embeddedResourceProblems } from './embedded-resources.js';
import { type FieldProblem, PROBLEMS_MAX, type ValidationOptions } from './field-problems.js';
import { listTypeProblems, newListTypeProblems } from './list-types.js';
import type { Schema } from './schema.js';
import { valueProblemSteps } from './validate-value.js';

export type { FieldProblem, ValidationOptions } from './field-problems.js';

/**
 * What is wrong with a custom resource by its schema, with the reasons, words and fields of kube-apiserver's `Invalid`
 * answers. Expects defaults to be set and unknown fields to be pruned. CEL rules are not looked at.
 */
export function validateObject(object: JsonObject, schema: Schema, options: ValidationOptions = {}): FieldProblem[] {
  return runAtOnce(objectProblemSteps(object, schema, options));
}

/** The same, yielding now and then. */
export function* objectProblemSteps(
  object: JsonObject,
  schema: Schema,
  options: ValidationOptions = {},
): Generator<void, FieldProblem[]> {
  const problems = yield* valueProblemSteps(object, schema, options);
  yield;
  const embedded = embeddedResourceProblems(object, schema);
  yield;
  return [...problems, ...embedded, ...listTypeProblems(object, schema)].slice(0, PROBLEMS_MAX);
}

/** The same for an update: what was wrong already and has not changed stays unsaid. */
export function validateObjectUpdate(
  object: JsonObject,
  live: JsonObject,
  schema: Schema,
  options: ValidationOptions = {},
): FieldProblem[] {
  return runAtOnce(objectUpdateProblemSteps(object, live, schema, options));
}

/** The same, yielding now and then. */
export function* objectUpdateProblemSteps(
  object: JsonObject,
  live: JsonObject,
  schema: Schema,
  options: ValidationOptions = {},
): Generator<void, FieldProblem[]> {
  const correlation = new Correlation(object, live, schema);
  const problems = yield* valueProblemSteps(object, schema, { ...options, correlation });
  yield;
  const embedded = embeddedResourceProblems(object, schema);
  yield;
  return [...problems, ...embedded, ...newListTypeProblems(object, live, schema)].slice(0, PROBLEMS_MAX);
}

/** `spec.a: Required value`, several in brackets: the end of the message of an `Invalid` answer. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  const texts = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
