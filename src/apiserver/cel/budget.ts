import { CelBudgetExceeded } from './failure.js';

/** Most that one rule may cost. */
export const RULE_COST_MAX = 1_000_000;
/** Most that all rules of one object may cost together. */
export const OBJECT_COST_MAX = 10_000_000;
/** Most that the conditions of one webhook may cost together, for one request. */
export const CONDITIONS_COST_MAX = 2_500_000;

/** No evaluation may make more turns that cost nothing. */
const IDLE_TURNS_MAX = 10_000_000;

/** The price of walking over one character, and of one character of a pattern for each of the text. */
export const CHARACTER_COST = 0.1;
export const PATTERN_COST = 0.25;
export const LIST_COST = 10;
export const MAP_COST = 30;

/**
 * What an evaluation may cost, in the units of kube-apiserver: about one for each name, member and call, and a part of one
 * for each character looked at. It ends hostile expressions after a bounded amount of work.
 */
export class CelBudget {
  spent = 0;
  #idleTurns = 0;

  constructor(readonly limit: number) {}

  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.limit) throw new CelBudgetExceeded();
  }

  /** A turn of a loop that kube-apiserver does not charge. */
  idle(): void {
    if (++this.#idleTurns > IDLE_TURNS_MAX) throw new CelBudgetExceeded();
  }
}
