import type { BenchCase, BenchContext, CaseResult, Row } from '../bench-case.js';
import { CPU, probe } from '../contestants/contestant.js';
import { JOB, type Pair, startPair } from '../contestants/pair.js';
import { createWatched, openCrowd } from '../contestants/watched-jobs.js';
import type { DecisionAnswer, DecisionOrder } from '../decision-process.js';
import { inProcess } from '../in-process.js';
import { MeasuredLoad } from '../load/measured-load.js';
import type { MergeAnswer, MergeOrder } from '../merge-process.js';
import { cpuSeconds, residentMb } from '../process-cost.js';
import { median, rowOf } from '../statistics.js';

const CASE = 'growth';
/** Three rounds: what is looked for is a factor of ten, not a tenth. */
const ROUNDS = 3;
const STRADDLE = 'Straddle';

/**
 * The same work with ten times as much of something, as the proxy's own CPU time or memory. The exponent says what the
 * curve is: 0 costs the same whatever the number, 1 grows with it, 2 with its square.
 */
export const growth: BenchCase = {
  name: CASE,
  text: 'what a request, a merge and an event cost as connections, peers, resources and watchers grow tenfold',
  async run(context) {
    const results = [await decisions(context), await merges(context)];
    const pair = await startPair(context);
    results.push(await connections(pair, context), await watchers(pair, context));
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: [] };
  },
};

const exponentOf = (few: number, many: number): number => Math.log10(Math.max(many, 1e-9) / Math.max(few, 1e-9));

function withExponent(metric: string, unit: string, few: Sized, many: Sized, say: BenchContext['say']): Row[] {
  const row = (name: string, rowUnit: string, figures: readonly number[]): Row =>
    rowOf({ case: CASE, contestant: STRADDLE, metric: `${metric}, ${name}`, unit: rowUnit }, figures);
  const exponent = exponentOf(median(few.figures), median(many.figures));
  say(
    `${metric}: ${median(few.figures).toFixed(1)} → ${median(many.figures).toFixed(1)} ${unit}, n^${exponent.toFixed(2)}`,
  );
  return [row(few.name, unit, few.figures), row(many.name, unit, many.figures), row('exponent', '', [exponent])];
}

interface Sized {
  readonly name: string;
  readonly figures: readonly number[];
}

/** Ten times and once, in turn. */
async function tenfold(
  what: { metric: string; unit: string; few: string; many: string },
  measure: (many: boolean, round: number) => Promise<number>,
  { say }: BenchContext,
): Promise<CaseResult> {
  const few: number[] = [];
  const many: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [isMany, figures] of [
      [false, few],
      [true, many],
    ] as const) {
      const figure = await measure(isMany, round);
      // The first round warms up.
      if (round > 0) figures.push(figure);
    }
  }
  const { metric, unit } = what;
  const rows = withExponent(metric, unit, { name: what.few, figures: few }, { name: what.many, figures: many }, say);
  return { rows, bars: [] };
}

async function decisions(context: BenchContext): Promise<CaseResult> {
  const decide = async (order: Omit<DecisionOrder, 'capable'>): Promise<number> =>
    (await inProcess<DecisionOrder, DecisionAnswer>('./decision-process.ts', { ...order, capable: 'all' })).nanoseconds;
  const peers = await tenfold(
    { metric: 'reroute decision by peers', unit: 'ns', few: '10 peers', many: '100 peers' },
    (many) => decide({ peers: many ? 100 : 10, resources: 500 }),
    context,
  );
  const resources = await tenfold(
    { metric: 'reroute decision by resources', unit: 'ns', few: '500 resources', many: '5,000 resources' },
    (many) => decide({ peers: 10, resources: many ? 5_000 : 500 }),
    context,
  );
  return { rows: [...peers.rows, ...resources.rows], bars: [] };
}

async function merges(context: BenchContext): Promise<CaseResult> {
  const merge = async (order: MergeOrder): Promise<number> =>
    (await inProcess<MergeOrder, MergeAnswer>('./merge-process.ts', order)).milliseconds;
  const metric = 'merging discovery and writing /apis';
  const peers = await tenfold(
    { metric: `${metric}, by servers`, unit: 'ms', few: '3 servers', many: '30 servers' },
    (many) => merge({ servers: many ? 30 : 3, resources: 500 }),
    context,
  );
  const resources = await tenfold(
    { metric: `${metric}, by resources`, unit: 'ms', few: '500 resources', many: '5,000 resources' },
    (many) => merge({ servers: 3, resources: many ? 5_000 : 500 }),
    context,
  );
  return { rows: [...peers.rows, ...resources.rows], bars: [] };
}

/** As many requests at once as connections, each on one of its own. */
async function connections(pair: Pair, context: BenchContext): Promise<CaseResult> {
  const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
  const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
  const load = new MeasuredLoad(pair.caller);
  return tenfold(
    { metric: 'CPU of a local GET', unit: 'µs', few: '10 connections', many: '100 connections' },
    async (many) => {
      const shape = { connections: many ? 100 : 10, streams: 1, seconds: 2 };
      return (await load.throughput(pair.local, asked, shape))[CPU]!;
    },
    context,
  );
}

const WATCHERS_EACH = 50;
const PACE = { writesPerSecond: 10, seconds: 3 };

/** Memory of a watch, and what an event and a plain GET cost beside so many watches. */
async function watchers(pair: Pair, context: BenchContext): Promise<CaseResult> {
  const { straddle } = pair.plane.a;
  const load = new MeasuredLoad(pair.caller);
  const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
  const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
  const measured = [];
  for (const size of [200, 2_000]) {
    await straddle.stop();
    await straddle.start();
    const rerouted = { ...pair.reroute, proxyPid: straddle.process!.pid };
    await load.throughput(rerouted, asked);
    const names = await createWatched(pair, `growth-${size}`, size / WATCHERS_EACH);
    const beforeMb = residentMb(rerouted.proxyPid);
    const crowd = await openCrowd(pair, rerouted, names, WATCHERS_EACH);
    const eventMicros: number[] = [];
    const getMicros: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const cpuBefore = cpuSeconds(rerouted.proxyPid);
      const { length } = await crowd.deliver(PACE);
      const eventCost = ((cpuSeconds(rerouted.proxyPid) - cpuBefore) * 1e6) / length;
      const getCost = (await load.throughput(rerouted, asked))[CPU]!;
      if (round === 0) continue;
      eventMicros.push(eventCost);
      getMicros.push(getCost);
    }
    const eachKb = ((residentMb(rerouted.proxyPid) - beforeMb) * 1024) / size;
    crowd.close();
    measured.push({ name: `${size.toLocaleString('en')} watches`, eventMicros, getMicros, eachKb: [eachKb] });
  }
  const [few, many] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const rows = (metric: string, unit: string, of: (size: typeof few) => readonly number[]): Row[] =>
    withExponent(
      metric,
      unit,
      { name: few.name, figures: of(few) },
      { name: many.name, figures: of(many) },
      context.say,
    );
  return {
    rows: [
      ...rows('CPU of an event', 'µs', ({ eventMicros }) => eventMicros),
      ...rows('CPU of a rerouted GET', 'µs', ({ getMicros }) => getMicros),
      ...rows('memory of a watch', 'kB', ({ eachKb }) => eachKb),
    ],
    bars: [],
  };
}
