import type { CelBudget } from './budget.js';
import type { Expr } from './syntax.js';
import type { Value } from './values.js';

/** One evaluation: its variables by index, and its budget. */
export interface Frame {
  readonly slots: Value[];
  readonly budget: CelBudget;
}

/** A compiled part of an expression. Throws CelFailure and CelBudgetExceeded. */
export type Step = (frame: Frame) => Value;

/** Plans parts of an expression. */
export interface StepPlanner {
  plan(expr: Expr): Step;
  /** Calls `use` with the variables in scope; `places` are their indexes. */
  within<T>(names: readonly string[], use: (places: readonly number[]) => T): T;
}
