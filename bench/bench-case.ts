/** What was measured of one contestant. Over rounds: the median of the rounds' figures, and their spread. */
export interface Row {
  readonly case: string;
  readonly contestant: string;
  readonly metric: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A promise and whether it is kept. `ratio` is what was measured: of two contestants, or a figure in the unit named. */
export interface Bar {
  readonly name: string;
  readonly ratio: number;
  readonly bar: number;
  /** Never where it could not be measured. */
  readonly holds: boolean;
  /** How far the rounds' own ratios lie apart (`spreadOf`); left out where there was one figure only. */
  readonly spread?: number;
  /** Set where rounds differed so much that the ratio says nothing. */
  readonly notMeasurable?: true;
}

export interface CaseResult {
  readonly rows: readonly Row[];
  readonly bars: readonly Bar[];
}

export interface BenchContext {
  /** A folder of the case's own; gone afterwards unless something failed. */
  readonly dir: string;
  say(line: string): void;
}

export interface BenchCase {
  readonly name: string;
  readonly text: string;
  /** Fails loudly when a contestant cannot start or answers wrongly. */
  run(context: BenchContext): Promise<CaseResult>;
}
