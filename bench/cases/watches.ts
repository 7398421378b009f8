import { call } from '../../test/real/rig/http-client.js';
import type { BenchCase, BenchContext, CaseResult } from '../bench-case.js';
import { hold, type RatioBar } from '../contest.js';
import { type Contestant, DIRECT } from '../contestants/contestant.js';
import { JOBS, type Pair, startPair } from '../contestants/pair.js';
import { createWatched, openCrowd } from '../contestants/watched-jobs.js';
import { cpuSeconds, residentMb } from '../process-cost.js';
import { quantile, rowOf } from '../statistics.js';
import type { WatchCrowd } from '../watch-crowd.js';

const CASE = 'watches';
/**
 * One write reaches 20 watches, and 50 writes a second are 1,000 events a second. A thousand writes a second would leave
 * nothing of two cores for the watches; fewer writes, and P99 would be the one slowest of a round and no more than luck.
 */
const WATCHERS_EACH = 20;
const SLICE = { writesPerSecond: 50, seconds: 1 };
/** Of each contestant in a round. Short and in turn, so that what else the machine does meets both. */
const SLICES = 6;
/** Where nothing is promised. */
const SLICES_TO_READ = 3;
const SIZES = [1_000, 5_000] as const;
const P99_BAR = 1.5;
const MEMORY_BAR_KB = 60;

export const watches: BenchCase = {
  name: CASE,
  text: '1,000 and 5,000 watches of Jobs with 1,000 events/s in all: direct, rerouted by Straddle',
  async run(context) {
    const pair = await startPair(context);
    const results: CaseResult[] = [];
    for (const size of SIZES) results.push(await measure(pair, size, context));
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: results.flatMap(({ bars }) => bars) };
  },
};

async function measure(pair: Pair, size: number, context: BenchContext): Promise<CaseResult> {
  const { direct, plane, caller } = pair;
  const { straddle } = plane.a;
  // Memory that watches of another size have left behind would hide what these need.
  await straddle.stop();
  await straddle.start();
  const rerouted: Contestant = { ...pair.reroute, proxyPid: straddle.process!.pid };
  for (let i = 0; i < 20; i++) await call({ url: rerouted.url, ...caller }, JOBS);
  // Separate objects for each, so that a round writes only for the one it measures.
  const names = [await watched(pair, size, 'direct'), await watched(pair, size, 'rerouted')];
  const beforeMb = residentMb(rerouted.proxyPid!);
  const crowds = new Map<string, WatchCrowd>();
  for (const [i, each] of [direct, rerouted].entries()) {
    crowds.set(each.name, await openCrowd(pair, each, names[i]!, WATCHERS_EACH));
    context.say(`${size} watches, ${each.name}: open`);
  }
  const promised = size === Math.max(...SIZES);
  const slices = promised ? SLICES : SLICES_TO_READ;
  const metric = (what: string): string => `${size} watches: ${what}`;
  const cpuBefore = cpuSeconds(rerouted.proxyPid!);
  let events = 0;
  const result = await hold(
    {
      case: CASE,
      contestants: [direct.name, rerouted.name],
      metrics: { [metric('delivery P50')]: 'ms', [metric('delivery P99')]: 'ms' },
      bars: promised ? [atMost(size, metric('delivery P99'), rerouted.name)] : [],
      measure: {
        async together(contestants) {
          const latenciesMs = await inSlices(contestants, slices, (name) => crowds.get(name)!.deliver(SLICE));
          events += latenciesMs.get(rerouted.name)!.length;
          const figures = (all: readonly number[]) => ({
            [metric('delivery P50')]: quantile(all, 0.5),
            [metric('delivery P99')]: quantile(all, 0.99),
          });
          return new Map([...latenciesMs].map(([name, all]) => [name, figures(all)]));
        },
      },
    },
    context,
  );
  const eachKb = ((residentMb(rerouted.proxyPid!) - beforeMb) * 1024) / size;
  const cpuMicros = ((cpuSeconds(rerouted.proxyPid!) - cpuBefore) * 1e6) / events;
  for (const crowd of crowds.values()) crowd.close();
  context.say(`${size} watches: ${eachKb.toFixed(1)} kB each, ${cpuMicros.toFixed(0)} µs of CPU an event`);
  const one = (what: string, unit: string, value: number) =>
    rowOf({ case: CASE, contestant: rerouted.name, metric: metric(what), unit }, [value]);
  return {
    rows: [...result.rows, one('memory each', 'kB', eachKb), one('CPU an event', 'µs', cpuMicros)],
    bars: [
      ...result.bars,
      ...(promised
        ? [
            {
              name: `watches: kB of memory for each of ${size} rerouted watches, at most ${MEMORY_BAR_KB}`,
              ratio: eachKb,
              bar: MEMORY_BAR_KB,
              holds: eachKb <= MEMORY_BAR_KB,
            },
          ]
        : []),
    ],
  };
}

/** There and back: a, b, b, a, a, b, and so on. */
async function inSlices(
  contestants: readonly string[],
  slices: number,
  deliver: (name: string) => Promise<number[]>,
): Promise<Map<string, number[]>> {
  const taken = new Map<string, number[]>(contestants.map((name) => [name, []]));
  for (let slice = 0; slice < slices; slice++) {
    const order = slice % 2 === 0 ? contestants : contestants.toReversed();
    for (const name of order) for (const each of await deliver(name)) taken.get(name)!.push(each);
  }
  return taken;
}

function atMost(size: number, p99: string, rerouted: string): RatioBar {
  return {
    name: `watches: delivery P99 of ${size} rerouted watches, at most ${P99_BAR} × direct`,
    bar: P99_BAR,
    side: 'at most',
    ratio: (of) => of(rerouted, p99) / of(DIRECT, p99),
  };
}

function watched(pair: Pair, size: number, whose: string): Promise<string[]> {
  return createWatched(pair, `watched-${size}-${whose}`, size / WATCHERS_EACH);
}
