import { isObject, type Json, type JsonObject, jsonEqual } from '../../api/json.js';
import type { Correlation } from './correlation.js';
import {
  type FieldProblem,
  invalid,
  NO_FIELD,
  notSupported,
  PROBLEMS_MAX,
  required,
  tooMany,
  typeInvalid,
  type ValidationOptions,
} from './field-problems.js';
import { isKnownFormat } from './formats.js';
import { goJson } from './go-values.js';
import { ANY, memberSchema, type Schema } from './schema.js';
import { formatProblems, numberProblems, stringProblems, type ValuePlace } from './validate-scalars.js';

export interface ValueOptions extends ValidationOptions {
  /** The field of the value as a whole; empty for an object. Texts name what is below it only. */
  readonly field?: string;
  /** With what the value was before: what was wrong then and has not changed is not reported. */
  readonly correlation?: Correlation | undefined;
}

/** What is wrong with a value by its schema: types, limits, formats, alternatives. */
export function valueProblems(value: Json, schema: Schema, options: ValueOptions = {}): FieldProblem[] {
  return new ValueValidation(options).check(value, schema, '', options.correlation).problems;
}

/**
 * Of several alternatives that fail kube-apiserver tells the problems of the one that matched most, so matches are
 * counted the way it counts them.
 */
class Outcome {
  readonly problems: FieldProblem[] = [];
  matches = 0;

  add(problems: readonly FieldProblem[]): void {
    for (const each of problems) {
      if (this.problems.length >= PROBLEMS_MAX) return;
      this.problems.push(each);
    }
  }

  merge(other: Outcome): void {
    this.add(other.problems);
    this.matches += other.matches;
  }
}

class ValueValidation {
  private readonly whole: string;

  constructor(private readonly options: ValueOptions) {
    this.whole = options.field ?? '';
  }

  check(value: Json, schema: Schema, name: string, correlation: Correlation | undefined): Outcome {
    const outcome = this.checkAll(value, schema, name, correlation);
    if (outcome.problems.length > 0 && correlation?.isUnchanged === true) outcome.problems.length = 0;
    return outcome;
  }

  private checkAll(value: Json, schema: Schema, name: string, correlation: Correlation | undefined): Outcome {
    const outcome = new Outcome();
    // The server's own types are checked by those who know them.
    if (schema.restrictions !== undefined) return this.checkAll(value, schema.restrictions, name, correlation);
    if (schema.typeName !== undefined) return outcome;
    const place = { name, field: this.fieldOf(name), wholeField: this.whole };
    this.checkType(value, schema, place, outcome);
    if (value === null) {
      this.checkEnum(value, schema, place, outcome);
      return outcome;
    }
    this.checkAlternatives(value, schema, name, outcome);
    this.checkScalar(value, schema, place, outcome);
    if (Array.isArray(value)) this.checkItems(value, schema, place, correlation, outcome);
    this.checkEnum(value, schema, place, outcome);
    if (isObject(value)) this.checkMembers(value, schema, place, correlation, outcome);
    outcome.matches += 2;
    return outcome;
  }

  private checkScalar(value: Json, schema: Schema, place: ValuePlace, outcome: Outcome): void {
    if (typeof value === 'string') {
      outcome.add(stringProblems(value, schema, place, this.options));
      outcome.add(formatProblems(value, schema, place));
      outcome.matches += schema.format !== undefined && isKnownFormat(schema.type ?? '', schema.format) ? 2 : 1;
    } else if (typeof value === 'number') {
      outcome.add(numberProblems(value, schema, place));
      outcome.matches += 2;
    }
  }

  private checkType(value: Json, schema: Schema, place: ValuePlace, outcome: Outcome): void {
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

  private checkEnum(value: Json, schema: Schema, { field }: ValuePlace, outcome: Outcome): void {
    const allowed = schema.enum;
    if (allowed === undefined || (value !== null && allowed.some((each) => jsonEqual(each, value)))) return;
    const texts = allowed.map((each) => (typeof each === 'string' ? each : goJson(each)));
    outcome.add([notSupported(field, value, texts)]);
  }

  private checkItems(
    items: readonly Json[],
    schema: Schema,
    { name, field }: ValuePlace,
    correlation: Correlation | undefined,
    outcome: Outcome,
  ): void {
    const { minItems, maxItems, uniqueItems } = schema.limits ?? {};
    for (const [index, item] of items.entries()) {
      if (schema.items === undefined || outcome.problems.length >= PROBLEMS_MAX) break;
      outcome.merge(this.check(item, schema.items, `${name}[${index}]`, correlation?.item(index)));
    }
    if (minItems !== undefined && items.length < minItems) {
      outcome.add([invalid(field, items.length, `${name} in body should have at least ${minItems} items`)]);
    }
    if (maxItems !== undefined && items.length > maxItems) outcome.add([tooMany(field, items.length, maxItems)]);
    if (uniqueItems === true && new Set(items.map(goJson)).size < items.length) {
      outcome.add([invalid(field, '', `${name} in body shouldn't contain duplicates`)]);
    }
    outcome.matches += 2;
  }

  private checkMembers(
    object: JsonObject,
    schema: Schema,
    { name, field }: ValuePlace,
    correlation: Correlation | undefined,
    outcome: Outcome,
  ): void {
    const names = Object.keys(object);
    const { minProperties, maxProperties } = schema.limits ?? {};
    if (schema.forbidsOthers === true) outcome.add(forbiddenMembers(names, schema, name, field));
    if (minProperties !== undefined && names.length < minProperties) {
      outcome.add([invalid(field, names.length, `${name} in body should have at least ${minProperties} properties`)]);
    }
    if (maxProperties !== undefined && names.length > maxProperties) {
      outcome.add([tooMany(field, names.length, maxProperties)]);
    }
    for (const each of names) {
      if (outcome.problems.length >= PROBLEMS_MAX) break;
      const below = memberSchema(schema, each) ?? ANY;
      if (below === ANY) continue;
      const isDeclared = schema.properties !== undefined && Object.hasOwn(schema.properties, each);
      const path = name === '' && isDeclared ? each : `${name}.${each}`;
      // The version is the same after conversion, whatever it was.
      const isTyped = name === '' && this.whole === '' && (each === 'apiVersion' || each === 'kind');
      outcome.merge(this.check(object[each]!, below, path, isTyped ? undefined : correlation?.member(each)));
    }
    for (const each of schema.required ?? []) {
      if (!Object.hasOwn(object, each)) outcome.add([required(this.fieldOf(`${name}.${each}`))]);
    }
    outcome.matches += 1;
  }

  private checkAlternatives(value: Json, schema: Schema, name: string, outcome: Outcome): void {
    const { allOf, anyOf, oneOf, not } = schema;
    outcome.matches += 2;
    if (allOf === undefined && anyOf === undefined && oneOf === undefined && not === undefined) return;
    const say = (text: string): void =>
      outcome.add([invalid(this.whole === '' ? NO_FIELD : this.whole, '', `${JSON.stringify(name)} ${text}`)]);
    // Parts that did not change count all the same here: kube-apiserver compares alternatives only as a whole.
    const tried = (each: Schema): Outcome => this.checkAll(value, each, name, undefined);
    if (anyOf !== undefined)
      mergeAny(
        anyOf.map((each) => () => tried(each)),
        outcome,
        say,
      );
    if (oneOf !== undefined) mergeOne(oneOf.map(tried), outcome, say);
    if (allOf !== undefined) mergeAll(allOf.map(tried), outcome, say);
    if (not !== undefined && tried(not).problems.length === 0) say('must not validate the schema (not)');
  }

  /** A leading dot, of members of maps at the top, is not part of the field. */
  private fieldOf(name: string): string {
    const below = name.replace(/^\./, '');
    if (below === '') return this.whole === '' ? NO_FIELD : this.whole;
    return this.whole === '' ? below : `${this.whole}.${below}`;
  }
}

function forbiddenMembers(names: readonly string[], schema: Schema, name: string, field: string): FieldProblem[] {
  return names
    .filter((each) => schema.properties === undefined || !Object.hasOwn(schema.properties, each))
    .map((each) => invalid(field, each, `${name}.${each} in body is a forbidden property`));
}

type Say = (text: string) => void;

function mergeAny(alternatives: readonly (() => Outcome)[], outcome: Outcome, say: Say): void {
  let best: Outcome | undefined;
  for (const attempt of alternatives) {
    const each = attempt();
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

/** What was wanted and what is there, where they differ. */
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
