import type { BenchCase } from '../bench-case.js';
import { hold } from '../contest.js';
import type { DecisionAnswer, DecisionOrder } from '../decision-process.js';
import { inProcess } from '../in-process.js';

const CASE = 'decision';
const METRIC = 'reading the path, choosing the way and the peer';
const BAR_NS = 2_000;
/** Larger tables meet colder caches; what grows with their size would show as tens or hundreds. */
const GROWTH_BAR = 1.5;

const SIZES: Readonly<Record<string, DecisionOrder>> = {
  '2 peers × 500 resources': { peers: 2, resources: 500, capable: 'all' },
  '10 peers × 500 resources': { peers: 10, resources: 500, capable: 'all' },
  '100 peers × 500 resources': { peers: 100, resources: 500, capable: 'all' },
  '10 peers × 5,000 resources': { peers: 10, resources: 5_000, capable: 'all' },
  '100 peers × 5,000 resources': { peers: 100, resources: 5_000, capable: 'all' },
  '100 peers × 5,000 resources, each on two': { peers: 100, resources: 5_000, capable: 'two' },
};
const SMALL = '10 peers × 500 resources';
const LARGE = '100 peers × 5,000 resources';

export const decision: BenchCase = {
  name: CASE,
  text: 'the reroute decision alone, up to 100 peers × 5,000 resources',
  run: (context) =>
    hold(
      {
        case: CASE,
        contestants: Object.keys(SIZES),
        metrics: { [METRIC]: 'ns' },
        bars: [
          {
            name: `decision: ns at ${LARGE}, at most ${BAR_NS}`,
            bar: BAR_NS,
            side: 'at most',
            ratio: (of) => of(LARGE, METRIC),
          },
          {
            name: `decision: ${LARGE} against ${SMALL}, at most ${GROWTH_BAR} ×`,
            bar: GROWTH_BAR,
            side: 'at most',
            ratio: (of) => of(LARGE, METRIC) / of(SMALL, METRIC),
          },
        ],
        async measure(size) {
          const answer = await inProcess<DecisionOrder, DecisionAnswer>('./decision-process.ts', SIZES[size]!);
          return { [METRIC]: answer.nanoseconds };
        },
      },
      context,
    ),
};
