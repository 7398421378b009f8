import { runAtOnce } from '../../base/work-slices.js';
import { type JsonObject, member } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { hasRules } from '../cel/validate-rules.js';
import { STANDARD_FINALIZERS } from '../registry/metadata.js';
import type { ScalePaths } from '../registry/resource-type.js';
import type { PartStrategy, Strategy } from '../registry/strategy.js';
import { Correlation } from '../schema/correlation.js';
import { withDefaults } from '../schema/defaults.js';
import { type FieldProblem, invalidText, NO_FIELD } from '../schema/field-problems.js';
import { boundedMatcher } from '../schema/go-pattern.js';
import { listTypeProblems } from '../schema/list-types.js';
import type { Schema } from '../schema/schema.js';
import { objectProblemSteps } from '../schema/validate.js';
import { valueProblemSteps } from '../schema/validate-value.js';
import { dnsSubdomainProblems, labelKeyProblems } from '../values/object-meta.js';
import type { RuleProblemSteps } from './default-rules.js';
import { textsIn } from './definition.js';
import { scaleSpecProblems, scaleStatusProblems } from './scale-values.js';

export interface CustomResourceStrategyOptions {
  readonly schema: Schema;
  readonly hasStatus: boolean;
  readonly scalePaths: ScalePaths | undefined;
  /** `widgets.example.com`, for messages. */
  readonly qualifiedResource: string;
  /** The definition is being deleted: new objects are refused. */
  readonly isTerminating: boolean;
  readonly ruleProblems?: RuleProblemSteps | undefined;
}

/** The strategy of one version of a custom resource. */
export function customResourceStrategy(options: CustomResourceStrategyOptions): Strategy {
  const { schema, hasStatus } = options;
  return {
    nameProblems: (name, isPrefix) => dnsSubdomainProblems(isPrefix ? withoutTrailingHyphen(name) : name),
    setDefaults: (object) => withDefaults(object, schema, 'custom'),
    prepareForCreate: (object) => {
      if (options.isTerminating) throw terminating(object, options.qualifiedResource);
      return hasStatus ? withoutStatus(object) : object;
    },
    prepareForUpdate: (object, live) => (hasStatus ? withStatusOf(live, object) : object),
    validateCreate: (object) => runAtOnce(objectProblems(object, undefined, options)),
    validateUpdate: (object, live) => runAtOnce(objectProblems(object, live, options)),
    createProblemSteps: (object) => objectProblems(object, undefined, options),
    updateProblemSteps: (object, live) => objectProblems(object, live, options),
    warnings: finalizerWarnings,
    hasGeneration: true,
    hasStatus,
    createsOnUpdate: false,
    updatesUnconditionally: false,
    parts: new Map(hasStatus ? [['status', statusPart(options)]] : []),
  };
}

type ProblemSteps = Generator<void, FieldProblem[]>;

function* objectProblems(
  object: JsonObject,
  live: JsonObject | undefined,
  options: CustomResourceStrategyOptions,
): ProblemSteps {
  const { schema, scalePaths } = options;
  const checks = { matchesPattern: boundedMatcher() };
  const problems = yield* objectProblemSteps(object, live, schema, checks);
  const ofScale = scalePaths
    ? [...scaleSpecProblems(object, scalePaths), ...scaleStatusProblems(object, scalePaths)]
    : [];
  return yield* withRuleProblems([...problems, ...ofScale], object, live, options);
}

function* statusProblems(object: JsonObject, live: JsonObject, options: CustomResourceStrategyOptions): ProblemSteps {
  const { schema, scalePaths } = options;
  const status = member(object, 'status');
  const properties = schema.properties ?? {};
  const statusSchema = Object.hasOwn(properties, 'status') ? properties['status'] : undefined;
  const correlation = new Correlation(object, live, schema).member('status');
  const problems = [
    ...(status === undefined || statusSchema === undefined
      ? []
      : yield* valueProblemSteps(status, statusSchema, {
          matchesPattern: boundedMatcher(),
          field: 'status',
          correlation,
        })),
    ...(scalePaths === undefined ? [] : scaleStatusProblems(object, scalePaths)),
    ...listTypeProblems(object, live, schema),
  ];
  return yield* withRuleProblems(problems, object, live, options);
}

const BLOCKING = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];

/** CEL rules assume that the object fits its schema: after some problems they are not evaluated. */
function* withRuleProblems(
  problems: readonly FieldProblem[],
  object: JsonObject,
  live: JsonObject | undefined,
  { schema, ruleProblems }: CustomResourceStrategyOptions,
): ProblemSteps {
  if (ruleProblems === undefined || !hasRules(schema)) return [...problems];
  if (!problems.some(({ reason }) => BLOCKING.includes(reason)))
    return [...problems, ...(yield* ruleProblems(object, live, schema))];
  const unchecked = 'some validation rules were not checked because the object was invalid';
  return [
    ...problems,
    invalidText(NO_FIELD, 'null', `${unchecked}; correct the existing errors to complete validation`),
  ];
}

function statusPart(options: CustomResourceStrategyOptions): PartStrategy {
  return {
    prepareForUpdate: (object, live) => {
      const managedFields = member(metadataOf(object), 'managedFields');
      const metadata = { ...metadataOf(live) };
      if (managedFields === undefined) delete metadata['managedFields'];
      else metadata['managedFields'] = managedFields;
      return withStatusOf(object, { ...live, metadata });
    },
    validateUpdate: (object, live) => runAtOnce(statusProblems(object, live, options)),
    updateProblemSteps: (object, live) => statusProblems(object, live, options),
    ignoredPaths: ['f:metadata', 'f:spec'],
  };
}

function withoutStatus(object: JsonObject): JsonObject {
  const { status: _, ...rest } = object;
  return rest;
}

function withStatusOf(source: JsonObject, object: JsonObject): JsonObject {
  const status = member(source, 'status');
  return status === undefined ? withoutStatus(object) : { ...object, status };
}

function terminating(object: JsonObject, resource: string): StatusError {
  const name = nameOf(object);
  const [kind, ...group] = resource.split('.');
  return new StatusError(
    'Forbidden',
    `${resource} ${JSON.stringify(name)} is forbidden: create not allowed while custom resource definition is terminating`,
    { ...(name === '' ? {} : { name }), group: group.join('.'), kind: kind! },
  );
}

/** A hyphen at the end of a prefix is not at the end of the generated name. */
function withoutTrailingHyphen(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
}

function finalizerWarnings(object: JsonObject, live: JsonObject | undefined): string[] {
  const before = new Set(textsIn(metadataOf(live ?? {}), 'finalizers'));
  const added = [...new Set(textsIn(metadataOf(object), 'finalizers'))].filter((each) => !before.has(each)).sort();
  return added.flatMap((each) => {
    const head = `metadata.finalizers: ${JSON.stringify(each)}:`;
    const problems = labelKeyProblems(each).map((text) => `${head} ${text}`);
    if (each.includes('/') || STANDARD_FINALIZERS.has(each)) return problems;
    const path = each.includes('.') ? ' including a path (/)' : '';
    const why = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    return [...problems, `${head} ${why}`];
  });
}
