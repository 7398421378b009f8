/** Figures of one contestant: the median of the rounds, and their spread. */
export interface Row {
  readonly case: string;
  readonly contestant: string;
  readonly metric: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * A promise and whether it is kept. `ratio` is what was measured: of two contestants, or a figure in the unit named. What is
 * measured in rounds is judged by one rule (`judgeRatios`); what is one figure only, such as memory, is taken as it is.
 */
export interface Bar {
  readonly name: string;
  readonly ratio: number;
  readonly bar: number;
  /** Never where it could not be measured. */
  readonly holds: boolean;
  /** Confidence interval of the ratio; see `judgeRatios`. */
  readonly low?: number;
  readonly high?: number;
  readonly rounds?: number;
  /** How far the middle half of the ratios of single rounds lies apart, as a share of their median. */
  readonly spread?: number;
  /** Set if the bar is inside the interval, so that the side of the true ratio is not known. */
  readonly notMeasurable?: true;
}

export interface CaseResult {
  readonly rows: readonly Row[];
  readonly bars: readonly Bar[];
}

export interface BenchContext {
  /** A folder for the case; removed afterwards unless something failed. */
  readonly dir: string;
  say(line: string): void;
}

export interface BenchCase {
  readonly name: string;
  readonly text: string;
  /** Fails loudly when a contestant cannot start or answers wrongly. */
  run(context: BenchContext): Promise<CaseResult>;
}
