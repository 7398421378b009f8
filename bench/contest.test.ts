import { expect, test } from 'vitest';
import { type Figures, hold, judge, type RatioBar } from './contest.js';

const twice: RatioBar = {
  name: 'ours at least twice theirs',
  bar: 2,
  side: 'at least',
  ratio: (of) => of('ours', 'rate') / of('theirs', 'rate'),
};

const rounds = (ratios: readonly number[]) =>
  ratios.map(
    (ratio) =>
      new Map<string, Figures>([
        ['ours', { rate: ratio * 100 }],
        ['theirs', { rate: 100 }],
      ]),
  );

test('a ratio is of the medians', () => {
  expect(judge(twice, rounds([2.1, 2.2, 2.3, 2.4, 9]))).toMatchObject({ ratio: 2.3, holds: true });
  expect(judge(twice, rounds([1.1, 1.2, 1.3, 1.4, 9]))).toMatchObject({ ratio: 1.3, holds: false });
});

test('rounds far apart on both sides of the bar cannot be judged', () => {
  expect(judge(twice, rounds([0.5, 1, 2.5, 4, 5]))).toMatchObject({ holds: false, notMeasurable: true });
});

test('rounds far apart on one side of the bar can', () => {
  expect(judge(twice, rounds([2.1, 3, 5, 8, 9]))).not.toHaveProperty('notMeasurable');
  expect(judge(twice, rounds([2.1, 3, 5, 8, 9])).holds).toBe(true);
});

test('a bar that cannot be judged gets more rounds, and then fails', async () => {
  const noisy = [1, 0.5, 5, 1, 4, 2.5];
  let asked = 0;
  const result = await hold(
    {
      case: 'noise',
      contestants: ['ours', 'theirs'],
      metrics: { rate: '1/s' },
      bars: [twice],
      async measure(contestant, round) {
        asked++;
        return { rate: contestant === 'ours' ? 100 * noisy[round % noisy.length]! : 100 };
      },
    },
    { say: () => {} },
  );
  expect(asked).toBe(2 * 12);
  expect(result.bars[0]).toMatchObject({ holds: false, notMeasurable: true });
});

test('the first round does not count, and five do', async () => {
  const result = await hold(
    {
      case: 'warm-up',
      contestants: ['ours', 'theirs'],
      metrics: { rate: '1/s' },
      bars: [twice],
      measure: async (contestant, round) => ({ rate: round === 0 ? 1e9 : contestant === 'ours' ? 300 + round : 100 }),
    },
    { say: () => {} },
  );
  expect(result.rows[0]).toMatchObject({ contestant: 'ours', median: 303, min: 301, max: 305 });
  expect(result.bars[0]).toMatchObject({ ratio: 3.03, holds: true });
});
