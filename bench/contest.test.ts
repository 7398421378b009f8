import { expect, test } from 'vitest';
import { type Contest, type Figures, hold, judge, judgeRatios, type Promised, type RatioBar } from './contest.js';
import { median } from './statistics.js';

const twice: RatioBar = {
  name: 'ours at least twice theirs',
  bar: 2,
  side: 'at least',
  ratio: (of) => of('ours', 'rate') / of('theirs', 'rate'),
};

const silent = { say: () => {} };

function contest(more: Partial<Contest> & Pick<Contest, 'measure'>): Contest {
  return { case: 'trial', contestants: ['ours', 'theirs'], metrics: { rate: '1/s' }, bars: [twice], ...more };
}

/** Judges by the ratios of single rounds alone. */
const judgeRounds = (bar: Promised, ratios: readonly number[]) => judgeRatios(bar, median(ratios), ratios);

test('judge takes the interval of a bar from the ratios of each round', () => {
  // The machine was ten times as fast in some rounds; in each of them ours was thrice theirs.
  const rounds = [1, 10, 1, 10, 1, 10, 1].map(
    (speed) =>
      new Map<string, Figures>([
        ['ours', { rate: 300 * speed }],
        ['theirs', { rate: 100 * speed }],
      ]),
  );
  expect(judge(twice, rounds)).toMatchObject({ ratio: 3, low: 3, high: 3, spread: 0, holds: true, rounds: 7 });
});

test('judge compares the ratio of the medians with the bar; a bar between it and the interval is not measurable', () => {
  const figures = [
    [100, 30],
    [100, 30],
    [100, 30],
    [100, 49],
    [210, 100],
    [220, 100],
    [230, 100],
  ];
  const rounds = figures.map(
    ([ours, theirs]) =>
      new Map<string, Figures>([
        ['ours', { rate: ours! }],
        ['theirs', { rate: theirs! }],
      ]),
  );
  const judged = judge(twice, rounds);
  expect(judged.ratio).toBeCloseTo(100 / 49);
  expect(judged).toMatchObject({ low: 100 / 49, holds: true });
  expect(judgeRatios(twice, 1.9, [2.1, 2.1, 2.1, 2.1, 2.1, 2.1, 2.1])).toMatchObject({
    holds: false,
    notMeasurable: true,
  });
});

test('judgeRatios: a bar holds if the whole interval of the ratios satisfies it', () => {
  expect(judgeRounds(twice, [2, 2.2, 2.3, 2.4, 2.5, 8, 9])).toMatchObject({ ratio: 2.4, low: 2, high: 9, holds: true });
  expect(judgeRounds(twice, [2, 2.2, 2.3, 2.4, 2.5, 8, 9])).not.toHaveProperty('notMeasurable');
});

test('judgeRatios: a bar fails if no value of the interval of the ratios satisfies it', () => {
  const bar = judgeRounds(twice, [0.1, 1, 1.1, 1.2, 1.3, 1.4, 1.9]);
  expect(bar).toMatchObject({ ratio: 1.2, holds: false });
  expect(bar).not.toHaveProperty('notMeasurable');
});

test('judgeRatios: a bar inside the interval of the ratios is not measurable, on whichever side the median is', () => {
  for (const ratios of [
    [1.9, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6],
    [1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.1],
  ])
    expect(judgeRounds(twice, ratios)).toMatchObject({ holds: false, notMeasurable: true });
});

test('judgeRatios: an upper bar is judged by the same interval as a lower one', () => {
  const most = { name: 'at most twice', bar: 2, side: 'at most' } as const;
  expect(judgeRounds(most, [1, 1.1, 1.2, 1.3, 1.4, 1.5, 2])).toMatchObject({ holds: true });
  expect(judgeRounds(most, [2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 9])).not.toHaveProperty('notMeasurable');
  expect(judgeRounds(most, [1, 1.1, 1.2, 1.3, 1.4, 1.5, 2.1])).toMatchObject({ holds: false, notMeasurable: true });
});

test('judgeRatios: a bar with too few rounds, or with a round without a ratio, is not measurable', () => {
  expect(judgeRounds(twice, [3, 3, 3, 3, 3])).toMatchObject({ holds: false, notMeasurable: true });
  expect(judgeRounds(twice, [3, 3, 3, 3, 3, 3, Number.NaN])).toMatchObject({ holds: false, notMeasurable: true });
});

test('a contest runs up to 31 rounds for an undecided bar, which then is not measurable', async () => {
  let asked = 0;
  const result = await hold(
    contest({
      async measure(contestant, round) {
        asked++;
        return { rate: contestant === 'ours' ? 100 + 200 * (round % 2) : 100 };
      },
    }),
    silent,
  );
  expect(asked).toBe(2 * (1 + 31));
  expect(result.bars[0]).toMatchObject({ holds: false, notMeasurable: true, rounds: 31 });
});

test('a contest begins no round that would exceed its time limit', async () => {
  let seconds = 0;
  const result = await hold(
    contest({
      async measure(contestant, round) {
        seconds += 15;
        return { rate: contestant === 'ours' ? 100 + 200 * (round % 2) : 100 };
      },
    }),
    silent,
    () => seconds * 1000,
  );
  expect(result.bars[0]).toMatchObject({ notMeasurable: true, rounds: 7 });
});

test('a contest runs more rounds only with contestants of an undecided bar', async () => {
  const asked = new Map<string, number>();
  const open: RatioBar = { ...twice, name: 'open', ratio: (of) => of('ours', 'rate') / of('others', 'rate') };
  const noisy: Readonly<Record<string, (round: number) => number>> = {
    ours: () => 300,
    theirs: () => 100,
    // One round of the first seven is on the other side: judged at the second look.
    others: (round) => (round === 3 ? 200 : 100),
  };
  const result = await hold(
    contest({
      contestants: ['ours', 'theirs', 'others'],
      bars: [twice, open],
      async measure(contestant, round) {
        asked.set(contestant, (asked.get(contestant) ?? 0) + 1);
        return { rate: noisy[contestant]!(round) };
      },
    }),
    silent,
  );
  expect(Object.fromEntries(asked)).toEqual({ ours: 16, theirs: 8, others: 16 });
  expect(result.bars).toMatchObject([
    { name: twice.name, holds: true, rounds: 7 },
    { name: 'open', holds: true, rounds: 15 },
  ]);
});

test('a contest with a bar counts seven rounds after one warm-up round', async () => {
  const result = await hold(
    contest({
      measure: async (contestant, round) => ({ rate: round === 0 ? 1e9 : contestant === 'ours' ? 300 + round : 100 }),
    }),
    silent,
  );
  expect(result.rows[0]).toMatchObject({ contestant: 'ours', median: 304, min: 301, max: 307 });
  expect(result.bars[0]).toMatchObject({ ratio: 3.04, low: 3.01, high: 3.07, holds: true });
});

test('a contest measures contestants together if they take turns within a round', async () => {
  const asked: string[] = [];
  const result = await hold(
    contest({
      measure: {
        async together(names, round) {
          asked.push(names.join());
          return new Map([
            ['ours', { rate: 300 + round }],
            ['theirs', { rate: 100 }],
          ]);
        },
      },
    }),
    silent,
  );
  expect(asked.slice(0, 3)).toEqual(['ours,theirs', 'theirs,ours', 'ours,theirs']);
  expect(result.bars[0]).toMatchObject({ ratio: 3.04, holds: true });
});

test('a contest without a bar counts five rounds', async () => {
  const result = await hold(contest({ bars: [], measure: async (_, round) => ({ rate: round }) }), silent);
  expect(result.rows[0]).toMatchObject({ median: 3, min: 1, max: 5 });
});
