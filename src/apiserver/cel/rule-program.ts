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
  readonly program: Program | undefined;
  readonly problem: string | undefined;
  readonly usesOldSelf: boolean;
  readonly messageProgram: Program | undefined;
  readonly messageProblem: string | undefined;
  /** Of the field that the rule blames, from its own place: `.a['b']` made `a[b]`. */
  readonly fieldPath: string | undefined;
}

/** The rules of one place in a schema, and the type of `self` there. */
export interface PlaceRules {
  readonly type: CelType | undefined;
  readonly rules: readonly RuleProgram[];
}

const compiled = new WeakMap<Schema, Map<string, PlaceRules>>();
const NOTHING: PlaceRules = { type: undefined, rules: [] };

/** Compiled once for each schema and kept for as long as the schema is. */
export function rulesOf(schema: Schema, isRoot: boolean): PlaceRules {
  if (schema.rules === undefined || schema.rules.length === 0) return NOTHING;
  const key = isRoot ? 'root' : 'inner';
  let byKind = compiled.get(schema);
  if (byKind === undefined) {
    byKind = new Map();
    compiled.set(schema, byKind);
  }
  let known = byKind.get(key);
  if (known === undefined) {
    const type = celTypeOf(schema, isRoot || schema.embeddedResource === true);
    known = { type, rules: type === undefined ? [] : schema.rules.map((rule) => compileRule(schema, rule, type)) };
    byKind.set(key, known);
  }
  return known;
}

function compileRule(schema: Schema, rule: SchemaRule, self: CelType): RuleProgram {
  const variables = new Map([
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ]);
  const empty = { rule, program: undefined, problem: undefined, usesOldSelf: false };
  const noMessage = { messageProgram: undefined, messageProblem: undefined, fieldPath: undefined };
  if (rule.rule.trim() === '') return { ...empty, ...noMessage };
  const main = attempt('rule', rule.rule, variables);
  if (typeof main === 'string') return { ...empty, ...noMessage, problem: main };
  const usesOldSelf = main.uses.has('oldSelf');
  if (main.type.kind !== BOOL.kind) {
    return { ...empty, ...noMessage, problem: 'cel expression must evaluate to a bool', usesOldSelf: false };
  }
  return {
    rule,
    program: main,
    problem: undefined,
    usesOldSelf,
    ...messageOf(rule, variables),
    fieldPath: rule.fieldPath === undefined || rule.fieldPath === '' ? undefined : fieldPathOf(rule.fieldPath, schema),
  };
}

function messageOf(
  { messageExpression }: SchemaRule,
  variables: ReadonlyMap<string, CelType>,
): Pick<RuleProgram, 'messageProgram' | 'messageProblem'> {
  if (messageExpression === undefined || messageExpression === '') {
    return { messageProgram: undefined, messageProblem: undefined };
  }
  const program = attempt('messageExpression', messageExpression, variables);
  if (typeof program === 'string') return { messageProgram: undefined, messageProblem: program };
  if (formatType(program.type) !== formatType(STRING)) {
    return { messageProgram: undefined, messageProblem: 'messageExpression must evaluate to a string' };
  }
  return { messageProgram: program, messageProblem: undefined };
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
