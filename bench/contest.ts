import { performance } from 'node:perf_hooks';
import type { Bar, BenchContext, CaseResult, Row } from './bench-case.js';
import { intervalOfMedian, median, rowOf, spreadOf } from './statistics.js';

/**
 * After so many rounds bars are judged; those that could not be get more. Few looks, because each is another chance to
 * see by luck what is not so. Were rounds independent, the three together would judge a bar wrongly in at most 4 of 100 runs
 * (half of 1.6 + 3.5 + 2.9 %).
 */
const LOOKS = [7, 15, 31] as const;
const CONFIDENCE = 0.96;
/** No look is begun that would end after this long: a whole run must not take hours because a machine is busy. */
const CONTEST_MS_MAX = 400_000;
/** Where nothing is promised, the figures are for reading. */
const ROUNDS_WITHOUT_BARS = 5;

/** One round's figures of one contestant, by metric. */
export type Figures = Readonly<Record<string, number>>;

/** A figure that a contestant had in one round. */
export type FigureOf = (contestant: string, metric: string) => number;

/** A promised ratio. */
export interface Promised {
  readonly name: string;
  readonly bar: number;
  readonly side: 'at least' | 'at most';
}

export interface RatioBar extends Promised {
  /** Of one round, whose figures are neighbours in time. Must ask for the same figures whatever they are. */
  ratio(of: FigureOf): number;
}

export interface Contest {
  readonly case: string;
  readonly contestants: readonly string[];
  /** Units by metric, in the order of the table. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly bars?: readonly RatioBar[];
  /** Round 0 warms up and does not count. */
  readonly measure: MeasureOne | MeasureTogether;
}

/** One contestant for the whole of its part of a round. */
export type MeasureOne = (contestant: string, round: number) => Promise<Figures>;

/** A whole round, for contestants that take turns within it too. */
export interface MeasureTogether {
  together(contestants: readonly string[], round: number): Promise<ReadonlyMap<string, Figures>>;
}

/**
 * Each contestant in turn, round after round, until every bar can be judged or the rounds are used up. What no bar waits
 * for any more is left out of the later rounds.
 */
export async function hold(
  contest: Contest,
  { say }: Pick<BenchContext, 'say'>,
  nowMs: () => number = () => performance.now(),
): Promise<CaseResult> {
  const bars = contest.bars ?? [];
  const judged = new Map<RatioBar, Bar>();
  const rounds: ReadonlyMap<string, Figures>[] = [];
  await oneRound(contest, contest.contestants, 0);
  const begunMs = nowMs();
  for (const look of bars.length === 0 ? [ROUNDS_WITHOUT_BARS] : LOOKS) {
    const waiting = bars.filter((bar) => !judged.has(bar) || judged.get(bar)?.notMeasurable);
    if (bars.length > 0 && waiting.length === 0) break;
    if (rounds.length > 0 && ((nowMs() - begunMs) * look) / rounds.length > CONTEST_MS_MAX) break;
    const wanted = judged.size === 0 ? contest.contestants : contestantsOf(contest, waiting);
    while (rounds.length < look) rounds.push(await oneRound(contest, wanted, rounds.length + 1));
    for (const bar of waiting) judged.set(bar, judge(bar, rounds));
  }
  const rows = rowsOf(contest, rounds);
  for (const row of rows) say(`${row.contestant}: ${row.metric} ${row.median} ${row.unit} (${row.min}–${row.max})`);
  for (const bar of judged.values()) say(describe(bar));
  return { rows, bars: bars.map((bar) => judged.get(bar)!) };
}

async function oneRound(
  { measure }: Contest,
  wanted: readonly string[],
  round: number,
): Promise<ReadonlyMap<string, Figures>> {
  const names = inTurn(wanted, round);
  if (typeof measure !== 'function') return measure.together(names, round);
  const figures = new Map<string, Figures>();
  for (const name of names) figures.set(name, await measure(name, round));
  return figures;
}

/** Every round begins with another contestant, so that none always comes after the same one. */
function inTurn(contestants: readonly string[], round: number): string[] {
  const first = round % contestants.length;
  return [...contestants.slice(first), ...contestants.slice(0, first)];
}

function contestantsOf({ contestants }: Contest, bars: readonly RatioBar[]): string[] {
  const asked = new Set<string>();
  const note: FigureOf = (contestant) => {
    asked.add(contestant);
    return 1;
  };
  for (const bar of bars) bar.ratio(note);
  return contestants.filter((name) => asked.has(name));
}

function rowsOf({ case: name, contestants, metrics }: Contest, rounds: readonly ReadonlyMap<string, Figures>[]): Row[] {
  return Object.entries(metrics).flatMap(([metric, unit]) =>
    contestants.flatMap((contestant) => {
      // Not every contestant has every metric: what is asked directly has no proxy whose CPU time could be told.
      const figures = rounds.map((round) => round.get(contestant)?.[metric]).filter((figure) => figure !== undefined);
      return figures.length === 0 ? [] : [rowOf({ case: name, contestant, metric, unit }, figures)];
    }),
  );
}

/** A contest's bar: the ratio of the medians, and between which limits it lies by what each round had. */
export function judge(bar: RatioBar, rounds: readonly ReadonlyMap<string, Figures>[]): Bar {
  const figuresOf = (contestant: string, metric: string): number[] =>
    rounds.map((figures) => figures.get(contestant)?.[metric] ?? Number.NaN);
  const ofMedians = bar.ratio((contestant, metric) => median(figuresOf(contestant, metric)));
  const ratios = rounds.map((_, round) => bar.ratio((contestant, metric) => figuresOf(contestant, metric)[round]!));
  return judgeRatios(bar, ofMedians, ratios);
}

/**
 * The rule for every bar that is measured in rounds. What is compared with the bar is the ratio of the medians. Around it
 * stands the interval in which the median of the ratios of single rounds lies with `CONFIDENCE`. The bar holds where the
 * ratio and all of the interval keep it and fails where none of them does; otherwise, or with too few rounds for an
 * interval, nobody can say: not measurable.
 */
export function judgeRatios({ name, bar, side }: Promised, ofMedians: number, ratios: readonly number[]): Bar {
  const keeps = (value: number): boolean => (side === 'at least' ? value >= bar : value <= bar);
  const finite = ratios.every(Number.isFinite);
  const interval = finite ? intervalOfMedian(ratios, CONFIDENCE) : undefined;
  const verdicts = interval === undefined ? [] : [ofMedians, interval.low, interval.high].map(keeps);
  const holds = verdicts.length > 0 && verdicts.every((kept) => kept);
  const fails = verdicts.length > 0 && verdicts.every((kept) => !kept);
  return {
    name,
    ratio: ofMedians,
    bar,
    holds,
    spread: spreadOf(ratios),
    rounds: ratios.length,
    ...interval,
    ...(holds || fails ? {} : { notMeasurable: true }),
  };
}

function describe({ name, ratio, low, high, rounds }: Bar): string {
  const interval = low === undefined || high === undefined ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return `${name}: ${ratio.toFixed(2)}${interval}, ${rounds} rounds`;
}
