import type { HalfResult, RehearsalStep, SecondSample } from '../rehearsal-result.js';
import { type FailureCounts, failureCounts } from './bins.js';

export interface StepCell extends FailureCounts {
  readonly step: RehearsalStep;
}

export interface StepRow {
  readonly name: string;
  /** One for each half; undefined if the half has no such step. */
  readonly cells: readonly (StepCell | undefined)[];
}

/** Pairs the steps of both halves, which differ only if one half was cut short. */
export function stepRows(halves: readonly HalfResult[]): StepRow[] {
  const rows: StepRow[] = [];
  const longest = Math.max(0, ...halves.map(({ steps }) => steps.length));
  for (let index = 0; index < longest; index++) {
    const names = new Set(halves.flatMap(({ steps }) => steps[index]?.name ?? []));
    for (const name of names) {
      rows.push({
        name,
        cells: halves.map((half) => {
          const step = half.steps[index];
          return step?.name === name ? stepCell(step, half.seconds) : undefined;
        }),
      });
    }
  }
  return rows;
}

/** A second counts for the step in which its middle lies. */
function stepCell(step: RehearsalStep, seconds: readonly SecondSample[]): StepCell {
  const within = seconds.slice(Math.round(step.beginMs / 1_000), Math.round(step.endMs / 1_000));
  return { ...failureCounts(within), step };
}
