import { runAtOnce } from '../../base/work-slices.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { Correlation } from './correlation.js';
import { enumValuesOf } from './enum-values.js';
import {
  type FieldProblem,
  invalid,
  NO_FIELD,
  notSupportedAmong,
  PROBLEMS_CHARS_MAX,
  PROBLEMS_MAX,
  required,
  tooMany,
  typeInvalid,
  type ValidationOptions,
} from './field-problems.js';
import { goJson } from './go-values.js';
import { ANY, memberSchema, type Schema } from './schema.js';
import { isKnownFormat } from './schema-formats.js';
import { formatProblems, numberProblems, stringProblems, type ValuePlace } from './validate-scalars.js';

export interface ValueOptions extends ValidationOptions {
  /** The field of the whole value; empty for an object. Messages name paths inside the value only. */
  readonly field?: string;
  /** The value before an update: problems of unchanged parts are not reported. */
  readonly correlation?: Correlation | undefined;
}

/** The problems of a value by its schema: types, limits, formats, alternatives. */
export function valueProblems(value: Json, schema: Schema, options: ValueOptions = {}): FieldProblem[] {
  return runAtOnce(valueProblemSteps(value, schema, options));
}

/**
 * Same as `valueProblems`, yielding every few milliseconds. Throws a StatusError after `CHECKS_MAX`
 * checks: each of many items is checked against each of many alternatives.
 */
export function* valueProblemSteps(
  value: Json,
  schema: Schema,
  options: ValueOptions = {},
): Generator<void, FieldProblem[]> {
  const { problems } = yield* new ValueValidation(options).check(value, schema, '', options.correlation);
  return problems;
}

/** Bound on the checks of values of one object; each alternative of a schema is a check. */
export const CHECKS_MAX = 5_000_000;
/** Some milliseconds of work. */
const CHECKS_PER_STEP = 2_000;

/**
 * The problems of a value and the number of its matches. Of several failed alternatives, kube-apiserver
 * reports the one with the most matches, so matches are counted like there.
 */
class Outcome {
  readonly problems: FieldProblem[] = [];
  matches = 0;
  #chars = 0;

  get isFull(): boolean {
    return this.problems.length >= PROBLEMS_MAX || this.#chars > PROBLEMS_CHARS_MAX;
  }

  add(problems: readonly FieldProblem[]): void {
    for (const each of problems) {
      if (this.isFull) return;
      this.problems.push(each);
      this.#chars += each.message.length;
    }
  }

  merge(other: Outcome): void {
    this.add(other.problems);
    this.matches += other.matches;
  }
}

class ValueValidation {
  readonly #whole: string;
  #checks = 0;

  readonly #options: ValueOptions;

  constructor(options: ValueOptions) {
    this.#options = options;
    this.#whole = options.field ?? '';
  }

  *check(value: Json, schema: Schema, name: string, correlation: Correlation | undefined): Generator<void, Outcome> {
    const outcome = yield* this.#checkAll(value, schema, name, correlation);
    if (outcome.problems.length > 0 && correlation?.isUnchanged === true) outcome.problems.length = 0;
    return outcome;
  }

  *#checkAll(
    value: Json,
    schema: Schema,
    name: string,
    correlation: Correlation | undefined,
  ): Generator<void, Outcome> {
    const outcome = new Outcome();
    if (++this.#checks % CHECKS_PER_STEP === 0) yield;
    if (this.#checks > CHECKS_MAX) throw tooManyChecks();
    // Values of built-in types are validated elsewhere.
    if (schema.restrictions !== undefined) return yield* this.#checkAll(value, schema.restrictions, name, correlation);
    if (schema.typeName !== undefined) return outcome;
    const place = new Place(name, this.#whole);
    this.#checkType(value, schema, place, outcome);
    if (value === null) {
      this.#checkEnum(value, schema, place, outcome);
      return outcome;
    }
    if (hasAlternatives(schema)) yield* this.#checkAlternatives(value, schema, name, outcome);
    outcome.matches += 2;
    this.#checkScalar(value, schema, place, outcome);
    if (Array.isArray(value)) yield* this.#checkItems(value, schema, place, correlation, outcome);
    this.#checkEnum(value, schema, place, outcome);
    if (isObject(value)) yield* this.#checkMembers(value, schema, place, correlation, outcome);
    outcome.matches += 2;
    return outcome;
  }

  #checkScalar(value: Json, schema: Schema, place: ValuePlace, outcome: Outcome): void {
    if (typeof value === 'string') {
      outcome.add(stringProblems(value, schema, place, this.#options));
      outcome.add(formatProblems(value, schema, place));
      outcome.matches += schema.format !== undefined && isKnownFormat(schema.type ?? '', schema.format) ? 2 : 1;
    } else if (typeof value === 'number') {
      outcome.add(numberProblems(value, schema, place));
      outcome.matches += 2;
    }
  }

  #checkType(value: Json, schema: Schema, place: ValuePlace, outcome: Outcome): void {
    const types = typesOf(schema);
    const problem = typeProblem(value, schema, types);
    if (problem !== undefined) {
      const [wanted, actual] = problem;
      const detail = `${place.name} in body must be of type ${wanted}: ${JSON.stringify(actual)}`;
      outcome.add([typeInvalid(place.field, actual, detail)]);
    }
    const applies = types.length > 0 || formatOf(schema) !== undefined;
    if (value === null) outcome.matches += problem === undefined ? 1 : 0;
    else if (applies) outcome.matches += problem === undefined ? 2 : 1;
  }

  #checkEnum(value: Json, schema: Schema, place: ValuePlace, outcome: Outcome): void {
    const allowed = enumValuesOf(schema);
    if (allowed === undefined || (value !== null && allowed.has(value))) return;
    if (!outcome.isFull) outcome.add([notSupportedAmong(place.field, value, allowed.text)]);
  }

  *#checkItems(
    items: readonly Json[],
    schema: Schema,
    place: ValuePlace,
    correlation: Correlation | undefined,
    outcome: Outcome,
  ): Generator<void, void> {
    const { name } = place;
    const { minItems, maxItems, uniqueItems } = schema.limits ?? {};
    for (const [index, item] of items.entries()) {
      if (schema.items === undefined || outcome.isFull) break;
      outcome.merge(yield* this.check(item, schema.items, `${name}[${index}]`, correlation?.item(index)));
    }
    if (minItems !== undefined && items.length < minItems) {
      outcome.add([invalid(place.field, items.length, `${name} in body should have at least ${minItems} items`)]);
    }
    if (maxItems !== undefined && items.length > maxItems) outcome.add([tooMany(place.field, items.length, maxItems)]);
    if (uniqueItems === true && new Set(items.map(goJson)).size < items.length) {
      outcome.add([invalid(place.field, '', `${name} in body shouldn't contain duplicates`)]);
    }
    outcome.matches += 2;
  }

  *#checkMembers(
    object: JsonObject,
    schema: Schema,
    place: ValuePlace,
    correlation: Correlation | undefined,
    outcome: Outcome,
  ): Generator<void, void> {
    const { name } = place;
    const names = Object.keys(object);
    const { minProperties, maxProperties } = schema.limits ?? {};
    if (schema.forbidsOthers === true) outcome.add(forbiddenMembers(names, schema, place));
    if (minProperties !== undefined && names.length < minProperties) {
      const detail = `${name} in body should have at least ${minProperties} properties`;
      outcome.add([invalid(place.field, names.length, detail)]);
    }
    if (maxProperties !== undefined && names.length > maxProperties) {
      outcome.add([tooMany(place.field, names.length, maxProperties)]);
    }
    for (const each of names) {
      if (outcome.isFull) break;
      const below = memberSchema(schema, each) ?? ANY;
      if (below === ANY) continue;
      const isDeclared = schema.properties !== undefined && Object.hasOwn(schema.properties, each);
      const path = name === '' && isDeclared ? each : `${name}.${each}`;
      // The version is the same after conversion.
      const isTyped = name === '' && this.#whole === '' && (each === 'apiVersion' || each === 'kind');
      outcome.merge(yield* this.check(object[each]!, below, path, isTyped ? undefined : correlation?.member(each)));
    }
    for (const each of schema.required ?? []) {
      if (outcome.isFull) break;
      if (!Object.hasOwn(object, each)) outcome.add([required(new Place(`${name}.${each}`, this.#whole).field)]);
    }
    outcome.matches += 1;
  }

  *#checkAlternatives(value: Json, schema: Schema, name: string, outcome: Outcome): Generator<void, void> {
    const { allOf, anyOf, oneOf, not } = schema;
    const say = (text: string): void =>
      outcome.add([invalid(this.#whole === '' ? NO_FIELD : this.#whole, '', `${JSON.stringify(name)} ${text}`)]);
    // Unchanged parts are checked as well: kube-apiserver compares alternatives only as a whole.
    const tried = (each: Schema): Generator<void, Outcome> => this.#checkAll(value, each, name, undefined);
    if (anyOf !== undefined) yield* mergeAny(anyOf, tried, outcome, say);
    if (oneOf !== undefined) mergeOne(yield* each(oneOf, tried), outcome, say);
    if (allOf !== undefined) mergeAll(yield* each(allOf, tried), outcome, say);
    if (not !== undefined && (yield* tried(not)).problems.length === 0) say('must not validate the schema (not)');
  }
}

/** The place of a value. Its field is computed only for a problem, because paths can be long. */
class Place implements ValuePlace {
  constructor(
    readonly name: string,
    readonly wholeField: string,
  ) {}

  /** A leading dot, of members of maps at the top, is not part of the field. */
  get field(): string {
    const below = this.name.replace(/^\./, '');
    if (below === '') return this.wholeField === '' ? NO_FIELD : this.wholeField;
    return this.wholeField === '' ? below : `${this.wholeField}.${below}`;
  }
}

function tooManyChecks(): StatusError {
  return new StatusError(
    'RequestEntityTooLarge',
    `Request entity too large: validation by the schema takes more than ${CHECKS_MAX} checks`,
  );
}

function hasAlternatives({ allOf, anyOf, oneOf, not }: Schema): boolean {
  return allOf !== undefined || anyOf !== undefined || oneOf !== undefined || not !== undefined;
}

type Attempt = (schema: Schema) => Generator<void, Outcome>;

function* each(schemas: readonly Schema[], tried: Attempt): Generator<void, Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const schema of schemas) outcomes.push(yield* tried(schema));
  return outcomes;
}

function forbiddenMembers(names: readonly string[], schema: Schema, { name, field }: ValuePlace): FieldProblem[] {
  return names
    .filter((each) => schema.properties === undefined || !Object.hasOwn(schema.properties, each))
    .slice(0, PROBLEMS_MAX)
    .map((each) => invalid(field, each, `${name}.${each} in body is a forbidden property`));
}

type Say = (text: string) => void;

function* mergeAny(alternatives: readonly Schema[], tried: Attempt, outcome: Outcome, say: Say): Generator<void, void> {
  let best: Outcome | undefined;
  for (const alternative of alternatives) {
    const each = yield* tried(alternative);
    if (each.problems.length === 0) {
      outcome.merge(each);
      return;
    }
    if (best === undefined || each.matches > best.matches) best = each;
  }
  say('must validate at least one schema (anyOf)');
  if (best !== undefined) outcome.merge(best);
}

function mergeOne(outcomes: readonly Outcome[], outcome: Outcome, say: Say): void {
  const valid = outcomes.filter((each) => each.problems.length === 0);
  if (valid.length === 1) {
    outcome.merge(valid[0]!);
    return;
  }
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
  say(`must validate one and only one schema (oneOf). ${found}`);
  if (valid.length > 0) return;
  outcome.merge(outcomes.reduce((best, each) => (each.matches > best.matches ? each : best)));
}

function mergeAll(outcomes: readonly Outcome[], outcome: Outcome, say: Say): void {
  const validCount = outcomes.filter((each) => each.problems.length === 0).length;
  for (const each of outcomes) outcome.merge(each);
  if (validCount === outcomes.length) return;
  say(`must validate all the schemas (allOf)${validCount === 0 ? '. None validated' : ''}`);
}

/** The expected and the actual type, if they differ. */
function typeProblem(value: Json, schema: Schema, types: readonly string[]): [string, string] | undefined {
  const actual = typeOf(value);
  if (value === null) return types.length > 0 && schema.nullable !== true ? [types.join(','), 'null'] : undefined;
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  const format = formatOf(schema);
  const isTextual = typeof value === 'string' || Array.isArray(value);
  if (!isTextual && format !== undefined && !fits) return [format, goFormatOf(value)];
  const isNumeric = types.includes('number') || types.includes('integer');
  if (format !== undefined && isTextual && !isNumeric) return undefined;
  return fits || types.length === 0 ? undefined : [types.join(','), actual];
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.format === 'int-or-string') return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function formatOf({ format, type }: Schema): string | undefined {
  return format !== undefined && isKnownFormat(type ?? '', format) ? format : undefined;
}

function goFormatOf(value: Json): string {
  if (typeof value !== 'number') return '';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
