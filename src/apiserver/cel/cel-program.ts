import { CelBudget, RULE_COST_MAX } from './budget.js';
import type { CelType } from './cel-types.js';
import { check } from './checker.js';
import { parse } from './parser.js';
import { Planner } from './planner.js';
import type { Expr } from './syntax.js';
import type { Value } from './values.js';

/** A compiled expression. */
export interface Program {
  readonly source: string;
  readonly expr: Expr;
  readonly type: CelType;
  /** Which of the declared variables it mentions. */
  readonly uses: ReadonlySet<string>;
  /**
   * The value, for the declared variables in their order. Throws CelFailure, or CelBudgetExceeded once the budget is spent;
   * what it cost is then, as always, in the budget.
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
    switch (expr.kind) {
      case 'ident':
        if (declared.has(expr.name) && !hidden.includes(expr.name)) used.add(expr.name);
        break;
      case 'select':
        if (expr.qualified === undefined) visit(expr.operand, hidden);
        break;
      case 'call':
        for (const each of expr.resolved!.args) visit(each, hidden);
        break;
      case 'list':
        for (const { value } of expr.items) visit(value, hidden);
        break;
      case 'map':
        for (const { key, value } of expr.entries) for (const each of [key, value]) visit(each, hidden);
        break;
      case 'comprehension': {
        visit(expr.range, hidden);
        const inner = [...hidden, ...expr.variables];
        for (const each of [expr.filter, expr.body]) if (each !== undefined) visit(each, inner);
        break;
      }
    }
  };
  visit(root, []);
  return used;
}
