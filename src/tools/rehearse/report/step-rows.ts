import type { HalfResult, RehearsalStep, SecondSample } from '../rehearsal-result.js';

export interface StepCell {
  readonly step: RehearsalStep;
  readonly wrong404s: number;
  readonly unavailable503s: number;
  readonly discoveryFlaps: number;
}

export interface StepRow {
  readonly name: string;
  /** One for each half; undefined where that half has no such step. */
  readonly cells: readonly (StepCell | undefined)[];
}

/** Both halves do the same steps in the same order; where one was cut short, the other's stand alone. */
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
  const sum = (of: (second: SecondSample) => number) => within.reduce((total, second) => total + of(second), 0);
  return {
    step,
    wrong404s: sum(({ wrong404s }) => wrong404s),
    unavailable503s: sum(({ unavailable503s }) => unavailable503s),
    discoveryFlaps: sum(({ discoveryFlaps }) => discoveryFlaps),
  };
}
