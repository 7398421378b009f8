import { CHARACTER_COST, RULE_COST_MAX } from './budget.js';
import { CelBudgetExceeded } from './failure.js';

/** Bound on the length of a text: a longer one costs more than a rule may. */
const TEXT_LENGTH_MAX = RULE_COST_MAX / CHARACTER_COST;
/** Bound on the length of a list: a longer one costs more than a rule may. */
export const LIST_LENGTH_MAX = RULE_COST_MAX;

export function checkTextLength(length: number): void {
  if (length > TEXT_LENGTH_MAX) throw new CelBudgetExceeded();
}

export function checkListLength(length: number): void {
  if (length > LIST_LENGTH_MAX) throw new CelBudgetExceeded();
}

const SURROGATE = /[\ud800-\udfff]/;

/** The length of a text in code points. */
export function characterCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The code points of a text; the text itself if it has no surrogates. */
export function characters(text: string): string | readonly string[] {
  return SURROGATE.test(text) ? [...text] : text;
}
