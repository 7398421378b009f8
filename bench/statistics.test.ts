import { expect, test } from 'vitest';
import { intervalOfMedian } from './statistics.js';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1).reverse();

test('intervalOfMedian omits the values at both ends that the binomial distribution allows', () => {
  // Seven heads or seven tails in a row: 2 in 128.
  expect(intervalOfMedian(upTo(7), 0.98)).toEqual({ low: 1, high: 7 });
  // At most three heads, or three tails, in fifteen throws: 3.5 %. Four would be 11.8 %.
  expect(intervalOfMedian(upTo(15), 0.96)).toEqual({ low: 4, high: 12 });
  expect(intervalOfMedian(upTo(31), 0.96)).toEqual({ low: 10, high: 22 });
});

test('intervalOfMedian returns undefined for too few values', () => {
  expect(intervalOfMedian([], 0.96)).toBeUndefined();
  expect(intervalOfMedian(upTo(5), 0.96)).toBeUndefined();
  expect(intervalOfMedian(upTo(6), 0.96)).toEqual({ low: 1, high: 6 });
});

test('intervalOfMedian is not widened by an outlier', () => {
  expect(intervalOfMedian([...upTo(14), 1e9], 0.96)).toEqual({ low: 4, high: 12 });
});
