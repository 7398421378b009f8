import type { CelBudget } from './budget.js';
import type { Expr } from './syntax.js';
import type { Value } from './values.js';

/** One evaluation: its variables by place, and what it may cost. */
export interface Frame {
  readonly slots: Value[];
  readonly budget: CelBudget;
}

/** A part of an expression, ready to run. Throws CelFailure and CelBudgetExceeded. */
export type Step = (frame: Frame) => Value;

/** What the planning of a part needs of the whole. */
export interface StepPlanner {
  plan(expr: Expr): Step;
  /** Plans `use` with the variables in scope, and tells where they are kept. */
  within<T>(names: readonly string[], use: (places: readonly number[]) => T): T;
}
