import type { JsonObject } from '../../kube/json.js';
import { Correlation } from './correlation.js';
import { embeddedResourceProblems } from './embedded-resources.js';
import { type FieldProblem, PROBLEMS_MAX, type ValidationOptions } from './field-problems.js';
import { listTypeProblems } from './list-types.js';
import type { Schema } from './schema.js';
import { valueProblemSteps } from './validate-value.js';

export type { FieldProblem, ValidationOptions } from './field-problems.js';

/**
 * The problems of a custom resource by its schema, with the reasons, words and fields of kube-apiserver's
 * `Invalid` answers. Expects defaults to be set and unknown fields to be pruned; CEL rules are not
 * evaluated. Problems of an update that the live object has as well are left out. Yields between steps.
 */
export function* objectProblemSteps(
  object: JsonObject,
  live: JsonObject | undefined,
  schema: Schema,
  options: ValidationOptions = {},
): Generator<void, FieldProblem[]> {
  const correlation = live === undefined ? undefined : new Correlation(object, live, schema);
  const problems = yield* valueProblemSteps(object, schema, { ...options, correlation });
  yield;
  const embedded = embeddedResourceProblems(object, schema);
  yield;
  return [...problems, ...embedded, ...listTypeProblems(object, live, schema)].slice(0, PROBLEMS_MAX);
}

/** `spec.a: Required value`, several in brackets: the end of the message of an `Invalid` answer. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  const texts = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
