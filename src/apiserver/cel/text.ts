import { CHARACTER_COST, RULE_COST_MAX } from './budget.js';
import { CelBudgetExceeded } from './failure.js';

/** To make a longer text costs more than a rule may. */
export const TEXT_LENGTH_MAX = RULE_COST_MAX / CHARACTER_COST;
/** To make a longer list costs more than a rule may. */
export const LIST_LENGTH_MAX = RULE_COST_MAX;

export function checkTextLength(length: number): void {
  if (length > TEXT_LENGTH_MAX) throw new CelBudgetExceeded();
}

export function checkListLength(length: number): void {
  if (length > LIST_LENGTH_MAX) throw new CelBudgetExceeded();
}

const SURROGATE = /[\ud800-\udfff]/;

/** Texts are counted and cut by code points. */
export function characterCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** One entry for each code point; the text itself when its code units are code points. */
export function characters(text: string): string | readonly string[] {
  return SURROGATE.test(text) ? [...text] : text;
}
