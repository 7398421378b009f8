import { runAtOnce } from '../../base/work-slices.js';
import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import { duplicate, type FieldProblem, forbidden, invalid, NO_FIELD, required } from '../schema/field-problems.js';
import type { Schema, SchemaRule } from '../schema/schema.js';
import { CelBudget, OBJECT_COST_MAX, RULE_COST_MAX } from './budget.js';
import type { Program } from './cel-program.js';
import { CelBudgetExceeded, CelFailure, NO_SUCH_OVERLOAD } from './failure.js';
import { typedValue } from './json-values.js';
import { type PlaceRules, type RuleProgram, rulesOf } from './rule-program.js';
import { CelOptional, NONE, type Value } from './values.js';

export interface RuleOptions {
  /** Receives the message of a rule that fails on an unchanged part, which is a warning, not a problem. */
  readonly warn?: (text: string) => void;
  /** False for a part of a resource, which has no `metadata` for rules. */
  readonly isRoot?: boolean;
}

/** Bound on the result of a message expression; a longer one is not used. */
const MESSAGE_BYTES_MAX = 5 * 1024;
/** Bound on the problems of one object. */
const PROBLEMS_MAX = 1_000;

/**
 * The problems that the rules of the schema find in a custom resource, in kube-apiserver's words. `live`
 * is the object before an update. Expects an object that is otherwise valid by its schema.
 */
export function ruleProblems(
  object: JsonObject,
  live: JsonObject | undefined,
  schema: Schema,
  options: RuleOptions = {},
): FieldProblem[] {
  return runAtOnce(ruleProblemSteps(object, live, schema, options));
}

/** Same as `ruleProblems`, yielding after each rule, because all rules of one object may take long. */
export function* ruleProblemSteps(
  object: JsonObject,
  live: JsonObject | undefined,
  schema: Schema,
  options: RuleOptions = {},
): Generator<void, FieldProblem[]> {
  if (!hasRules(schema)) return [];
  const walk = new RuleWalk(options);
  yield* walk.visit(object, live, schema, {
    path: '',
    isRoot: options.isRoot ?? true,
    pairs: live === undefined ? {} : { current: [object, live] },
  });
  return walk.problems;
}

const known = new WeakMap<Schema, boolean>();

/** Whether a schema contains a rule; parts without rules are not walked. */
export function hasRules(schema: Schema): boolean {
  let has = known.get(schema);
  if (has === undefined) {
    // The value for a schema that contains itself, until the rest of it is known.
    known.set(schema, false);
    has =
      (schema.rules !== undefined && schema.rules.length > 0) ||
      (schema.items !== undefined && hasRules(schema.items)) ||
      (schema.values !== undefined && hasRules(schema.values)) ||
      (schema.restrictions !== undefined && hasRules(schema.restrictions)) ||
      Object.values(schema.properties ?? {}).some(hasRules);
    known.set(schema, has);
  }
  return has;
}

type Pair = readonly [now: Json, before: Json];

/** The values before and after the update, here and at the nearest place above that existed before. */
interface Pairs {
  readonly current?: Pair;
  readonly above?: Pair;
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  readonly pairs: Pairs;
}

class RuleWalk {
  readonly problems: FieldProblem[] = [];
  #remaining = OBJECT_COST_MAX;

  readonly #options: RuleOptions;

  constructor(options: RuleOptions) {
    this.#options = options;
  }

  *visit(value: Json, before: Json | undefined, schema: Schema, place: Place): Generator<void, void> {
    if (value === null || this.#isOver) return;
    const placed = rulesOf(schema, place.isRoot);
    if (placed.rules.length > 0)
      yield* this.#evaluate(value, before === null ? undefined : before, schema, place, placed);
    if (this.#isOver) return;
    if (Array.isArray(value)) yield* this.#items(value, before, schema, place);
    else if (isObject(value)) yield* this.#members(value, isObject(before) ? before : undefined, schema, place);
  }

  get #isOver(): boolean {
    return this.#remaining < 0 || this.problems.length >= PROBLEMS_MAX;
  }

  *#members(value: JsonObject, before: JsonObject | undefined, schema: Schema, place: Place): Generator<void, void> {
    const { properties = {}, values } = schema;
    for (const name of Object.keys(value)) {
      const isNamed = Object.hasOwn(properties, name);
      const structure = isNamed ? properties[name]! : values;
      // The rules of a definition on `metadata` are in `restrictions`.
      const below = structure?.restrictions ?? structure;
      if (below === undefined || !hasRules(below)) continue;
      // Named properties are separated by dots, keys of maps stand in brackets.
      const path = isNamed ? (place.path === '' ? name : `${place.path}.${name}`) : `${place.path}[${name}]`;
      const was = before === undefined ? undefined : member(before, name);
      const isFixed = place.isRoot && (name === 'apiVersion' || name === 'kind');
      const pairs = isFixed ? {} : stepDown(place.pairs, value[name]!, memberBefore(place.pairs, name));
      yield* this.visit(value[name]!, was, below, { path, isRoot: false, pairs });
    }
  }

  *#items(value: readonly Json[], before: Json | undefined, schema: Schema, place: Place): Generator<void, void> {
    const { items } = schema;
    if (items === undefined || !hasRules(items)) return;
    const byKey = new Map<string, Json>();
    if (schema.listType === 'map' && Array.isArray(before)) {
      for (const each of before) byKey.set(keyOf(each, schema), each);
    }
    for (const [index, each] of value.entries()) {
      const was = byKey.size === 0 ? undefined : byKey.get(keyOf(each, schema));
      const pairs = stepDown(place.pairs, each, place.pairs.current === undefined ? undefined : was);
      yield* this.visit(each, was, items, { path: `${place.path}[${index}]`, isRoot: false, pairs });
      if (this.#isOver) return;
    }
  }

  *#evaluate(
    value: Json,
    before: Json | undefined,
    schema: Schema,
    place: Place,
    placed: PlaceRules,
  ): Generator<void, void> {
    const type = schema.type ?? '';
    if (this.#remaining <= 0) {
      this.#outOfBudget(place.path, type);
      return;
    }
    const usesOld = before !== undefined && placed.rules.some(({ usesOldSelf }) => usesOldSelf);
    const self = this.#convert(value, placed, place.path, type);
    const oldSelf = usesOld ? this.#convert(before, placed, place.path, type) : undefined;
    if (self === undefined) return;
    for (const rule of placed.rules) {
      if (rule.problem !== undefined) {
        this.#invalid(place.path, type, `rule compile error: ${rule.problem}`);
        continue;
      }
      const isOptional = rule.rule.optionalOldSelf === true;
      if (rule.program === undefined || (rule.usesOldSelf && before === undefined && !isOptional)) continue;
      const old = isOptional ? (oldSelf === undefined ? NONE : new CelOptional(oldSelf)) : (oldSelf ?? null);
      this.#run(rule, [self, old], { value, schema, place });
      if (this.#isOver) return;
      yield;
    }
  }

  #convert(value: Json, { type }: PlaceRules, path: string, schemaType: string): Value | undefined {
    try {
      return typedValue(value, type!);
    } catch (failure) {
      if (!(failure instanceof CelFailure)) throw failure;
      this.#invalid(path, schemaType, failure.message);
      return undefined;
    }
  }

  #run(rule: RuleProgram, values: readonly Value[], at: { value: Json; schema: Schema; place: Place }): void {
    const { place, schema } = at;
    const type = schema.type ?? '';
    const text = ruleText(rule.rule);
    const outcome = this.#attempt(rule.program!, values);
    if (outcome === 'budget') {
      this.#outOfBudget(place.path, type);
      return;
    }
    if (outcome instanceof CelBudgetExceeded) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for rule';
      this.#invalid(place.path, type, `'${outcome.message}': ${why}: ${text}`);
      this.#remaining = -1;
      return;
    }
    if (outcome instanceof CelFailure) {
      if (outcome.message.startsWith(NO_SUCH_OVERLOAD)) {
        const why = 'call arguments did not match a supported operator, function or macro signature for rule';
        this.#invalid(place.path, type, `'${outcome.message}': ${why}: ${text}`);
      } else this.#invalid(place.path, type, `${outcome.message} evaluating rule: ${text}`);
      return;
    }
    if (outcome !== true) this.#broken(rule, values, at);
  }

  /** Returns the value, the failure, or `budget` when the rules of the object cost too much together. */
  #attempt(program: Program, values: readonly Value[]): Value | CelFailure | CelBudgetExceeded | 'budget' {
    const budget = new CelBudget(RULE_COST_MAX);
    let outcome: Value | CelFailure | CelBudgetExceeded;
    try {
      outcome = program.run(values, budget);
    } catch (failure) {
      if (!(failure instanceof CelFailure) && !(failure instanceof CelBudgetExceeded)) throw failure;
      outcome = failure;
    }
    if (budget.spent > this.#remaining) return 'budget';
    this.#remaining -= budget.spent;
    return outcome;
  }

  #broken(rule: RuleProgram, values: readonly Value[], at: { value: Json; schema: Schema; place: Place }): void {
    const { value, schema, place } = at;
    const path = rule.fieldPath === undefined ? place.path : join(place.path, rule.fieldPath);
    const detail = this.#detail(rule, values, path, schema.type ?? '');
    if (detail === undefined) return;
    const isStructured = schema.type === 'object' || schema.type === 'array';
    const problem = problemFor(rule.rule.reason, path, isStructured ? undefined : value, detail);
    if (!rule.usesOldSelf && isUnchanged(place.pairs)) this.#options.warn?.(`${problem.field}: ${problem.message}`);
    else this.problems.push(problem);
  }

  /** The message of a broken rule; undefined if its message expression exhausted the budget. */
  #detail(rule: RuleProgram, values: readonly Value[], path: string, type: string): string | undefined {
    const fallback = rule.rule.message?.trim() ? rule.rule.message.trim() : `failed rule: ${ruleText(rule.rule)}`;
    if (rule.messageProgram === undefined) return fallback;
    const outcome = this.#attempt(rule.messageProgram, values);
    if (outcome === 'budget' || outcome instanceof CelBudgetExceeded) {
      const expression = JSON.stringify(rule.rule.messageExpression);
      const why =
        outcome === 'budget'
          ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
          : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${expression}`;
      this.#invalid(path, type, why);
      this.#remaining = -1;
      return undefined;
    }
    if (typeof outcome !== 'string') return fallback;
    const message = outcome.trim();
    const isFit = message !== '' && !message.includes('\n') && Buffer.byteLength(message) <= MESSAGE_BYTES_MAX;
    return isFit ? message : fallback;
  }

  #outOfBudget(path: string, type: string): void {
    const why = 'validation failed due to running out of cost budget, no further validation rules will be run';
    this.#invalid(path, type, why);
    this.#remaining = -1;
  }

  #invalid(path: string, type: string, detail: string): void {
    this.problems.push(invalid(fieldName(path), type, detail));
  }
}

function problemFor(reason: string | undefined, path: string, value: Json | undefined, detail: string): FieldProblem {
  const field = fieldName(path);
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      // Objects and lists are not shown.
      return value === undefined ? { reason, message: 'Duplicate value', field } : duplicate(field, value);
    default:
      if (value !== undefined) return invalid(field, value, detail);
      return { reason: 'FieldValueInvalid', message: `Invalid value: ${detail}`, field };
  }
}

/** The field of a path; the whole object has none. */
function fieldName(path: string): string {
  return path === '' ? NO_FIELD : path;
}

function join(path: string, below: string): string {
  return path === '' ? below : `${path}.${below}`;
}

function ruleText({ rule, message }: SchemaRule): string {
  return message !== undefined && message !== '' ? message.trim() : rule.trim();
}

function keyOf(item: Json, { listKeys = [], properties, items }: Schema): string {
  if (!isObject(item)) return JSON.stringify(item);
  const defaults = items?.properties ?? properties ?? {};
  return JSON.stringify(listKeys.map((name) => member(item, name) ?? defaults[name]?.default ?? null));
}

function memberBefore({ current }: Pairs, name: string): Json | undefined {
  const before = current?.[1];
  return isObject(before) ? member(before, name) : undefined;
}

/** The pairs of a member or item; without a value before the update, the pair above is kept. */
function stepDown(pairs: Pairs, now: Json, before: Json | undefined): Pairs {
  const { current } = pairs;
  if (current === undefined) return pairs;
  return before === undefined ? { above: current } : { current: [now, before], above: current };
}

function isUnchanged({ current, above }: Pairs): boolean {
  const pair = current ?? above;
  return pair !== undefined && jsonEqual(pair[0], pair[1]);
}
