import { isObject, type Json, type JsonObject, objectMember } from '../../kube/json.js';
import { partSchema } from '../schema/custom-resource-schema.js';
import { embeddedResourceProblems } from '../schema/embedded-resources.js';
import { type FieldProblem, invalid, NO_FIELD } from '../schema/field-problems.js';
import { boundedMatcher } from '../schema/go-pattern.js';
import { ANY, type Schema } from '../schema/schema.js';
import { pruneUnknownFields } from '../schema/unknown-fields.js';
import { formatProblems } from '../schema/validate.js';
import { valueProblems } from '../schema/validate-value.js';
import { objectIn } from './definition.js';

/** Validates an object by the CEL rules of its schema. */
export type RuleProblems = (
  object: JsonObject,
  live: JsonObject | undefined,
  schema: Schema,
) => readonly FieldProblem[];

/** Same in steps, for objects that clients send. */
export type RuleProblemSteps = (
  object: JsonObject,
  live: JsonObject | undefined,
  schema: Schema,
) => Generator<void, FieldProblem[]>;

/**
 * Validates the defaults of a structural schema: each must be valid at its place and have no field that
 * would be pruned. Yields after each default, whose schema is examined as a whole.
 */
export function* defaultProblemSteps(
  openApi: JsonObject,
  path: string,
  ruleProblems?: RuleProblems,
): Generator<void, FieldProblem[]> {
  const problems: FieldProblem[] = [];
  const root = { ...openApi, 'x-kubernetes-embedded-resource': true };
  yield* visit(root, { path, identityPath: undefined, rules: ruleProblems }, problems);
  return problems;
}

interface Place {
  readonly path: string;
  /** The path within an object if it leads into `metadata`, `kind` or `apiVersion`; undefined elsewhere. */
  readonly identityPath: readonly (string | 0)[] | undefined;
  readonly rules: RuleProblems | undefined;
}

function* visit(node: JsonObject, place: Place, problems: FieldProblem[]): Generator<void, void> {
  const { path } = place;
  const isEmbedded = node['x-kubernetes-embedded-resource'] === true;
  const identityPath = isEmbedded ? undefined : place.identityPath;
  const value = node['default'];
  if (value !== undefined && value !== null) {
    const field = `${path}.default`;
    const found =
      identityPath === undefined ? contentProblems(value, node, field) : identityProblems(value, identityPath, field);
    problems.push(...found.problems);
    if (!found.isFatal) problems.push(...schemaProblems(value, node, field, place.rules));
    yield;
  }
  const items = objectIn(node, 'items');
  if (items !== undefined) {
    const below = identityPath && [...identityPath, 0 as const];
    yield* visit(items, { ...place, path: `${path}.items`, identityPath: below }, problems);
  }
  for (const [name, each] of Object.entries(objectMember(node, 'properties'))) {
    if (!isObject(each)) continue;
    const isIdentity = isEmbedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind');
    const below = isIdentity ? [name] : identityPath && [...identityPath, name];
    yield* visit(each, { ...place, path: `${path}.properties[${name}]`, identityPath: below }, problems);
  }
}

interface Checked {
  readonly problems: readonly FieldProblem[];
  /** Whether the value is not validated further. */
  readonly isFatal: boolean;
}

function contentProblems(value: Json, node: JsonObject, field: string): Checked {
  const schema = partSchema(node, ANY);
  const isUnpruned = hasUnknownFields(value, schema);
  const embedded = embeddedResourceProblems(value, schema, field);
  return {
    problems: [...(isUnpruned ? [invalid(field, value, 'must not have unknown fields')] : []), ...embedded],
    isFatal: embedded.length > 0,
  };
}

/** Validates the object that the value would be a part of. */
function identityProblems(value: Json, path: readonly (string | 0)[], field: string): Checked {
  const around = path.reduceRight<Json>((inner, name) => (name === 0 ? [inner] : { [name]: inner }), value);
  const whole = { apiVersion: 'validation/v1', kind: 'Validation', ...(around as JsonObject) };
  const problems = embeddedResourceProblems(whole, { embeddedResource: true });
  if (problems.length === 0) return { problems: [], isFatal: false };
  const detail = `must result in valid metadata: ${formatProblems(problems)}`;
  return { problems: [invalid(field, value, detail)], isFatal: true };
}

function schemaProblems(value: Json, node: JsonObject, field: string, rules: RuleProblems | undefined): FieldProblem[] {
  const schema = partSchema(node, ANY);
  const problems = valueProblems(value, schema, { field, matchesPattern: boundedMatcher() });
  if (problems.length > 0 || rules === undefined || !isObject(value)) return problems;
  return rules(value, undefined, schema).map((each) => ({
    ...each,
    field: each.field === NO_FIELD ? field : `${field}.${each.field}`,
  }));
}

function hasUnknownFields(value: Json, schema: Schema): boolean {
  return pruneUnknownFields({ value }, { type: 'object', properties: { value: schema } }).unknownFields.length > 0;
}
