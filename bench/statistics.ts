import type { Row } from './bench-case.js';

/** Nearest rank; 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** How far the middle half of the values lies apart, as a share of their median. */
export function spreadOf(values: readonly number[]): number {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / Math.abs(median(values));
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Where the true median lies with at least this confidence; undefined where there are too few values to say.
 *
 * A value falls below the true median as often as a coin falls on heads, however the values are distributed, so how many
 * of the outermost values may be left out follows from the coin alone: no outlier widens this, and nothing is drawn by lot.
 */
export function intervalOfMedian(values: readonly number[], confidence: number): Interval | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  let sequences = 1;
  let below = 1;
  let leftOut = -1;
  while (2 * below <= (1 - confidence) * 2 ** count) {
    leftOut++;
    sequences = (sequences * (count - leftOut)) / (leftOut + 1);
    below += sequences;
  }
  return leftOut < 0 ? undefined : { low: sorted[leftOut]!, high: sorted[count - 1 - leftOut]! };
}

/** One figure a round makes one row. */
export function rowOf(at: Pick<Row, 'case' | 'contestant' | 'metric' | 'unit'>, figures: readonly number[]): Row {
  const rounded = (value: number): number => Number(value.toPrecision(4));
  return {
    ...at,
    median: rounded(median(figures)),
    min: rounded(Math.min(...figures)),
    max: rounded(Math.max(...figures)),
  };
}
