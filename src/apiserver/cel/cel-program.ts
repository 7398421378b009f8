import { CelBudget, RULE_COST_MAX } from './budget.js';
import type { CelType } from './cel-types.js';
import { check } from './checker.js';
import { parse } from './parser.js';
import { Planner } from './planner.js';
import { childrenOf, type Expr } from './syntax.js';
import type { Value } from './values.js';

/** A compiled expression. */
export interface Program {
  readonly source: string;
  readonly expr: Expr;
  readonly type: CelType;
  /** The declared variables that the expression mentions. */
  readonly uses: ReadonlySet<string>;
  /**
   * Evaluates the expression; `values` are those of the declared variables, in order. Throws
   * CelFailure, or CelBudgetExceeded once the budget is spent. The budget is charged in every case.
   */
  run(values: readonly Value[], budget?: CelBudget): Value;
}

/** Compiles an expression over the variables; throws CelCompileError. */
export function compile(source: string, variables: ReadonlyMap<string, CelType>): Program {
  const expr = parse(source);
  const type = check(source, expr, variables);
  const names = [...variables.keys()];
  const planner = new Planner(names);
  const step = planner.plan(expr);
  const spare = planner.slotsMax - names.length;
  return {
    source,
    expr,
    type,
    uses: usedNames(expr, new Set(names)),
    run: (values, budget = new CelBudget(RULE_COST_MAX)) => {
      const slots = spare === 0 ? (values as Value[]) : [...values, ...Array<Value>(spare).fill(null)];
      return step({ slots, budget });
    },
  };
}

function usedNames(root: Expr, declared: ReadonlySet<string>): Set<string> {
  const used = new Set<string>();
  const visit = (expr: Expr, hidden: readonly string[]): void => {
    if (expr.kind === 'ident' && declared.has(expr.name) && !hidden.includes(expr.name)) used.add(expr.name);
    for (const each of childrenOf(expr)) {
      // The variables of a loop are not visible in its range.
      const isInLoop = expr.kind === 'comprehension' && each !== expr.range;
      visit(each, isInLoop ? [...hidden, ...expr.variables] : hidden);
    }
  };
  visit(root, []);
  return used;
}
