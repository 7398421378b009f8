import type { JsonObject } from '../../kube/json.js';
import { CelBudget, CONDITIONS_COST_MAX } from './budget.js';
import { compile, type Program } from './cel-program.js';
import * as t from './cel-types.js';
import { type CelField, type CelType, formatType, listOf, mapOf } from './cel-types.js';
import { CelCompileError } from './compile-error.js';
import { CelBudgetExceeded, CelFailure } from './failure.js';
import { dynamicValue, typedValue } from './json-values.js';
import type { Value } from './values.js';

/** The variables of the conditions of a webhook. */
export interface MatchInput {
  /** Absent for a deletion. */
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /** The `request` of an AdmissionReview, without the objects. */
  readonly request: JsonObject;
}

export type MatchAnswer = { readonly matches: boolean } | { readonly error: string };

export interface MatchCondition {
  readonly expression: string;
  /** The conditions of one webhook for one request may share a budget: `conditionsBudget()`. */
  evaluate(input: MatchInput, budget?: CelBudget): MatchAnswer;
}

export function conditionsBudget(): CelBudget {
  return new CelBudget(CONDITIONS_COST_MAX);
}

/**
 * Compiles a condition of an admission webhook over `object`, `oldObject` and `request`. Throws
 * CelCompileError, also for an expression that is no bool; its message is that of kube-apiserver after
 * `Invalid value: …: `.
 */
export function compileMatchCondition(expression: string): MatchCondition {
  const program = compileCondition(expression);
  return {
    expression,
    evaluate: (input, budget = conditionsBudget()) => evaluate(program, input, budget),
  };
}

/** The problem of the expression of a condition; undefined for a valid one. */
export function matchConditionProblem(expression: string): string | undefined {
  try {
    compileCondition(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    const isType = error.message.startsWith('must evaluate');
    return isType ? error.message : `compilation failed: ${error.message}`;
  }
}

class NotACondition extends CelCompileError {
  override readonly message: string;

  constructor(source: string, type: CelType) {
    super(source, []);
    this.message = `must evaluate to bool but got ${formatType(type)}`;
  }
}

function compileCondition(expression: string): Program {
  const program = compile(expression, VARIABLES);
  if (program.type.kind !== 'bool') throw new NotACondition(expression, program.type);
  return program;
}

function evaluate(program: Program, { object, oldObject, request }: MatchInput, budget: CelBudget): MatchAnswer {
  const values: Value[] = [
    object === undefined ? null : dynamicValue(object),
    oldObject === undefined ? null : dynamicValue(oldObject),
    typedValue(request, REQUEST),
  ];
  try {
    return { matches: program.run(values, budget) === true };
  } catch (failure) {
    if (failure instanceof CelBudgetExceeded) {
      return { error: 'validation failed due to running out of cost budget, no further validation rules will be run' };
    }
    if (!(failure instanceof CelFailure)) throw failure;
    return { error: `expression '${program.source}' resulted in error: ${failure.message}` };
  }
}

function struct(name: string, members: Readonly<Record<string, CelType>>): CelType {
  const fields = new Map(
    Object.entries(members).map(([field, type]): [string, CelField] => [field, { name: field, type }]),
  );
  return { kind: 'struct', name, params: [], fields };
}

const KIND = struct('kubernetes.GroupVersionKind', { group: t.STRING, version: t.STRING, kind: t.STRING });
const RESOURCE = struct('kubernetes.GroupVersionResource', { group: t.STRING, version: t.STRING, resource: t.STRING });
const USER = struct('kubernetes.UserInfo', {
  username: t.STRING,
  uid: t.STRING,
  groups: listOf(t.STRING),
  extra: mapOf(t.STRING, listOf(t.STRING)),
});
const REQUEST = struct('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: t.STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: t.STRING,
  name: t.STRING,
  namespace: t.STRING,
  operation: t.STRING,
  userInfo: USER,
  dryRun: t.BOOL,
  options: t.DYN,
});
const VARIABLES: ReadonlyMap<string, CelType> = new Map([
  ['object', t.DYN],
  ['oldObject', t.DYN],
  ['request', REQUEST],
]);
