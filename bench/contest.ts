import type { Bar, BenchContext, CaseResult, Row } from './bench-case.js';
import { median, rowOf, spreadOf } from './statistics.js';

const ROUNDS_MIN = 5;
const ROUNDS_MAX = 11;
/** Where the rounds' ratios lie further apart than this and on both sides of the bar, their median says nothing. */
const SPREAD_MAX = 0.4;

/** One round's figures of one contestant, by metric. */
export type Figures = Readonly<Record<string, number>>;

/** A figure of a contestant: one round's, or the median of all. */
export type FigureOf = (contestant: string, metric: string) => number;

export interface RatioBar {
  readonly name: string;
  readonly bar: number;
  readonly side: 'at least' | 'at most';
  /** Computed of the medians, which is what counts, and of each round, which tells whether that can be believed. */
  ratio(of: FigureOf): number;
}

export interface Contest {
  readonly case: string;
  readonly contestants: readonly string[];
  /** Units by metric, in the order of the table. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly bars?: readonly RatioBar[];
  readonly roundsMin?: number;
  /** Round 0 warms up and does not count. */
  measure(contestant: string, round: number): Promise<Figures>;
}

/** Each contestant in turn, round after round, until every bar can be judged or the rounds are used up. */
export async function hold(contest: Contest, { say }: Pick<BenchContext, 'say'>): Promise<CaseResult> {
  const rounds: Map<string, Figures>[] = [];
  const bars = contest.bars ?? [];
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    if (rounds.length >= (contest.roundsMin ?? ROUNDS_MIN) && bars.every((bar) => !judge(bar, rounds).notMeasurable))
      break;
    const figures = new Map<string, Figures>();
    for (const name of inTurn(contest.contestants, round)) figures.set(name, await contest.measure(name, round));
    if (round > 0) rounds.push(figures);
  }
  const rows = rowsOf(contest, rounds);
  for (const row of rows) say(`${row.contestant}: ${row.metric} ${row.median} ${row.unit} (${row.min}–${row.max})`);
  const judged = bars.map((bar) => judge(bar, rounds));
  for (const { name, ratio } of judged) say(`${name}: ${ratio.toFixed(2)}`);
  return { rows, bars: judged };
}

/** Every round begins with another contestant, so that none always comes after the same one. */
function inTurn(contestants: readonly string[], round: number): string[] {
  const first = round % contestants.length;
  return [...contestants.slice(first), ...contestants.slice(0, first)];
}

function rowsOf({ case: name, contestants, metrics }: Contest, rounds: readonly Map<string, Figures>[]): Row[] {
  return Object.entries(metrics).flatMap(([metric, unit]) =>
    contestants.flatMap((contestant) => {
      const figures = figuresOf(rounds, contestant, metric);
      return figures.length === 0 ? [] : [rowOf({ case: name, contestant, metric, unit }, figures)];
    }),
  );
}

/** Not every contestant has every metric: what is asked directly has no proxy whose CPU time could be told. */
function figuresOf(rounds: readonly Map<string, Figures>[], contestant: string, metric: string): number[] {
  return rounds.map((figures) => figures.get(contestant)?.[metric]).filter((figure) => figure !== undefined);
}

export function judge({ name, bar, side, ratio }: RatioBar, rounds: readonly ReadonlyMap<string, Figures>[]): Bar {
  const all = rounds as readonly Map<string, Figures>[];
  const ofMedians = ratio((contestant, metric) => median(figuresOf(all, contestant, metric)));
  const each = all.map((figures) => ratio((contestant, metric) => figures.get(contestant)![metric]!));
  const keeps = (value: number): boolean => (side === 'at least' ? value >= bar : value <= bar);
  const spread = spreadOf(each);
  const agree = each.every(keeps) || !each.some(keeps);
  const notMeasurable = !Number.isFinite(ofMedians) || (spread > SPREAD_MAX && !agree);
  return {
    name,
    ratio: ofMedians,
    bar,
    holds: !notMeasurable && keeps(ofMedians),
    spread,
    ...(notMeasurable ? { notMeasurable } : {}),
  };
}
