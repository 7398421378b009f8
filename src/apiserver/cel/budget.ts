import { CelBudgetExceeded } from './failure.js';

/** Bound on the cost of one rule. */
export const RULE_COST_MAX = 1_000_000;
/** Bound on the cost of all rules of one object together. */
export const OBJECT_COST_MAX = 10_000_000;
/** Bound on the cost of the conditions of one webhook together, for one request. */
export const CONDITIONS_COST_MAX = 2_500_000;

/** Bound on loop iterations that have zero cost in kube-apiserver. */
const IDLE_TURNS_MAX = 10_000_000;

/** The cost of reading one character, and of matching one character of a pattern against one of a text. */
export const CHARACTER_COST = 0.1;
export const PATTERN_COST = 0.25;
export const LIST_COST = 10;
export const MAP_COST = 30;

/**
 * The cost of one evaluation and its bound, in kube-apiserver's units: about one for each name, member
 * and call, and a fraction for each character read. The bound ends hostile expressions.
 */
export class CelBudget {
  spent = 0;
  #idleTurns = 0;

  constructor(readonly limit: number) {}

  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.limit) throw new CelBudgetExceeded();
  }

  /** Counts a loop iteration that kube-apiserver does not charge. */
  idle(): void {
    if (++this.#idleTurns > IDLE_TURNS_MAX) throw new CelBudgetExceeded();
  }
}
