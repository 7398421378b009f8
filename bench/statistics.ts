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
