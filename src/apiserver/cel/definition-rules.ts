import { type FieldProblem, forbidden, invalid, invalidText } from '../schema/field-problems.js';
import { goJsonInOrder } from '../schema/go-values.js';
import type { Schema, SchemaRule } from '../schema/schema.js';
import { estimateCost } from './estimate.js';
import { addUp, multiply } from './estimate-size.js';
import { type RuleProgram, rulesOf } from './rule-program.js';
import { celTypeOf, REQUEST_BYTES_MAX } from './schema-type.js';
import { hasRules } from './validate-rules.js';

/** Bounds on the estimated cost of one rule for a whole object, and of all rules of a schema. */
const RULE_ESTIMATE_MAX = 10_000_000;
const SCHEMA_ESTIMATE_MAX = 100_000_000;
/** Bound on the rules that are named when all together cost too much; the most expensive ones are. */
const BLAMED_MAX = 4;

interface CompileOptions {
  /** Set for an unchanged schema, whose estimates are not checked again. */
  readonly ignoresCost?: boolean;
  /** The path of the schema in its definition, for some messages. */
  readonly path?: string;
}

/** kube-apiserver's path of a schema that all versions share. */
const DEFAULT_PATH = 'spec.validation.openAPIV3Schema';

/**
 * The problems of the rules of a custom resource's schema: rules that do not compile or could cost too
 * much. Fields are relative to the schema (`properties[spec].x-kubernetes-validations[0].rule`, empty
 * for the schema itself). Expects messages, reasons and field paths to be checked already. Yields after
 * each rule.
 */
export function* compileRuleSteps(schema: Schema, options: CompileOptions = {}): Generator<void, FieldProblem[]> {
  const walk = new DefinitionWalk(options);
  yield* walk.visit(schema, { path: '', isRoot: true, countMax: 1, uncorrelated: undefined });
  walk.checkTotal();
  return walk.problems;
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** The most occurrences in one object; undefined when only the size of a request bounds them. */
  readonly countMax: number | undefined;
  /** The path of the enclosing list whose items cannot be matched with those of the old object. */
  readonly uncorrelated: string | undefined;
}

class DefinitionWalk {
  readonly problems: FieldProblem[] = [];
  #total = 0;
  readonly #expensive: { readonly path: string; readonly cost: number }[] = [];

  readonly #options: CompileOptions;

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  *visit(schema: Schema, place: Place): Generator<void, void> {
    if (!hasRules(schema)) return;
    const { properties = {}, values, items, listType } = schema;
    const inner = { isRoot: false, countMax: countBelow(schema, place.countMax), uncorrelated: place.uncorrelated };
    if (values !== undefined) yield* this.visit(values, { ...inner, path: below(place.path, 'additionalProperties') });
    for (const name of Object.keys(properties).sort()) {
      const property = properties[name]!;
      // The rules of a definition on `metadata` are in `restrictions`.
      yield* this.visit(property.restrictions ?? property, {
        ...inner,
        path: below(place.path, `properties[${name}]`),
      });
    }
    if (items !== undefined) {
      const uncorrelated = place.uncorrelated ?? (listType === 'map' ? undefined : place.path);
      yield* this.visit(items, { ...inner, path: below(place.path, 'items'), uncorrelated });
    }
    yield* this.#checkRules(schema, place);
  }

  checkTotal(): void {
    if (this.#options.ignoresCost === true || this.#total <= SCHEMA_ESTIMATE_MAX) return;
    const blamed = this.#expensive.sort((left, right) => right.cost - left.cost).slice(0, BLAMED_MAX);
    for (const each of blamed) {
      const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
      this.#forbid(each.path, why);
    }
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    this.#forbid('', costText(what, this.#total, SCHEMA_ESTIMATE_MAX));
  }

  *#checkRules(schema: Schema, place: Place): Generator<void, void> {
    const { rules = [] } = schema;
    if (rules.length === 0) return;
    const path = below(place.path, 'x-kubernetes-validations');
    const type = celTypeOf(schema, place.isRoot || schema.embeddedResource === true);
    if (type === undefined) {
      const why =
        'failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      this.problems.push({ reason: 'InternalError', message: `Internal error: internal error: ${why}`, field: path });
      return;
    }
    const countMax = place.countMax ?? Math.floor(REQUEST_BYTES_MAX / (type.declared!.bytesMin + 1));
    for (const [index, each] of rulesOf(schema, place.isRoot).rules.entries()) {
      const cost = each.program === undefined ? 0 : estimateCost(each.program.expr, type);
      this.#checkCost(`${path}[${index}].rule`, 'estimated rule cost', multiply(cost, countMax));
      this.#checkProgram(each, `${path}[${index}]`, place);
      if (each.messageProgram !== undefined) {
        const messageCost = estimateCost(each.messageProgram.expr, type);
        this.#checkCost(`${path}[${index}].messageExpression`, 'estimated messageExpression cost', messageCost);
      }
      yield;
    }
  }

  #checkProgram(each: RuleProgram, path: string, { uncorrelated }: Place): void {
    const { rule, problem, messageProblem, usesOldSelf } = each;
    if (problem !== undefined) this.problems.push(invalidText(`${path}.rule`, ruleText(rule), problem));
    if (messageProblem !== undefined) {
      this.problems.push(invalidText(`${path}.messageExpression`, ruleText(rule), messageProblem));
    }
    if (usesOldSelf && uncorrelated !== undefined) {
      const where = below(this.#options.path ?? DEFAULT_PATH, uncorrelated);
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${where}`;
      this.problems.push(invalid(`${path}.rule`, rule.rule, why));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule';
      this.problems.push(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, why));
    }
  }

  #checkCost(path: string, what: string, cost: number): void {
    if (this.#options.ignoresCost !== true && cost > RULE_ESTIMATE_MAX) {
      this.#forbid(path, costText(what, cost, RULE_ESTIMATE_MAX));
    }
    this.#total = addUp(this.#total, cost);
    if (cost >= SCHEMA_ESTIMATE_MAX / 100) this.#expensive.push({ path, cost });
  }

  #forbid(field: string, detail: string): void {
    this.problems.push(forbidden(field, detail));
  }
}

function below(path: string, part: string): string {
  return path === '' ? part : part === '' ? path : `${path}.${part}`;
}

/** A rule as kube-apiserver prints it: all members in this order, set or not. */
function ruleText({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: SchemaRule): string {
  return goJsonInOrder({
    Rule: rule,
    Message: message ?? '',
    MessageExpression: messageExpression ?? '',
    Reason: reason ?? null,
    FieldPath: fieldPath ?? '',
    OptionalOldSelf: optionalOldSelf ?? null,
  });
}

function countBelow({ type, values, limits }: Schema, count: number | undefined): number | undefined {
  const below = type === 'array' ? limits?.maxItems : values !== undefined ? limits?.maxProperties : 1;
  return count === undefined || below === undefined ? undefined : multiply(count, Math.max(0, below));
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
