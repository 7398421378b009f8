import type { Schema, SchemaRule } from '../schema/schema.js';
import { fieldPathOf } from './cel-field-path.js';
import { compile, type Program } from './cel-program.js';
import { BOOL, type CelType, formatType, optionalOf, STRING } from './cel-types.js';
import { CelCompileError } from './compile-error.js';
import { CelFailure } from './failure.js';
import { celTypeOf } from './schema-type.js';

/** One rule, compiled. A rule that does not compile has a problem and no program. */
export interface RuleProgram {
  readonly rule: SchemaRule;
  readonly program?: Program;
  readonly problem?: string;
  readonly usesOldSelf: boolean;
  readonly messageProgram?: Program;
  readonly messageProblem?: string;
  /** The path from the place of the rule to the field that it blames: `.a['b']` becomes `a[b]`. */
  readonly fieldPath?: string | undefined;
}

/** The rules of one place in a schema, and the type of `self` there. */
export interface PlaceRules {
  readonly type: CelType | undefined;
  readonly rules: readonly RuleProgram[];
}

/** The rules of schemas at the root of a resource, and of those inside one. */
const compiled = { root: new WeakMap<Schema, PlaceRules>(), inner: new WeakMap<Schema, PlaceRules>() };
const NOTHING: PlaceRules = { type: undefined, rules: [] };

/** The compiled rules of a schema, kept for as long as the schema. */
export function rulesOf(schema: Schema, isRoot: boolean): PlaceRules {
  if (schema.rules === undefined || schema.rules.length === 0) return NOTHING;
  const cache = isRoot ? compiled.root : compiled.inner;
  let known = cache.get(schema);
  if (known === undefined) {
    const type = celTypeOf(schema, isRoot || schema.embeddedResource === true);
    known = { type, rules: type === undefined ? [] : schema.rules.map((rule) => compileRule(schema, rule, type)) };
    cache.set(schema, known);
  }
  return known;
}

function compileRule(schema: Schema, rule: SchemaRule, self: CelType): RuleProgram {
  const variables = new Map([
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ]);
  const empty = { rule, usesOldSelf: false };
  if (rule.rule.trim() === '') return empty;
  const program = attempt('rule', rule.rule, variables);
  if (typeof program === 'string') return { ...empty, problem: program };
  if (program.type.kind !== BOOL.kind) return { ...empty, problem: 'cel expression must evaluate to a bool' };
  return {
    rule,
    program,
    usesOldSelf: program.uses.has('oldSelf'),
    ...messageOf(rule, variables),
    fieldPath: rule.fieldPath === undefined || rule.fieldPath === '' ? undefined : fieldPathOf(rule.fieldPath, schema),
  };
}

function messageOf(
  { messageExpression }: SchemaRule,
  variables: ReadonlyMap<string, CelType>,
): Pick<RuleProgram, 'messageProgram' | 'messageProblem'> {
  if (messageExpression === undefined || messageExpression === '') return {};
  const program = attempt('messageExpression', messageExpression, variables);
  if (typeof program === 'string') return { messageProblem: program };
  if (formatType(program.type) === formatType(STRING)) return { messageProgram: program };
  return { messageProblem: 'messageExpression must evaluate to a string' };
}

function attempt(
  kind: 'rule' | 'messageExpression',
  source: string,
  variables: ReadonlyMap<string, CelType>,
): Program | string {
  try {
    return compile(source, variables);
  } catch (error) {
    if (error instanceof CelCompileError) {
      return `${kind === 'rule' ? '' : `${kind} `}compilation failed: ${error.message}`;
    }
    if (error instanceof CelFailure)
      return `${kind === 'rule' ? 'program' : kind} instantiation failed: ${error.message}`;
    throw error;
  }
}
