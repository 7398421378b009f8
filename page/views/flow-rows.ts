import type { FlowCounts, FlowRow, FlowSecond } from '../../src/proxy/page/page-state.js';

export const FLOW_CHOICES = ['all', 'rerouted', 'held', 'failed'] as const;
export type FlowChoice = (typeof FLOW_CHOICES)[number];

/** Rows that are drawn; more could not be read. */
export const FLOW_ROWS_SHOWN = 100;

export function chosenRows(rows: readonly FlowRow[], choice: FlowChoice): readonly FlowRow[] {
  const fits = (row: FlowRow): boolean =>
    choice === 'all' || (choice === 'failed' ? row.status >= 400 : row.kind === choice);
  return rows.filter(fits).slice(0, FLOW_ROWS_SHOWN);
}

export interface RateSeries {
  readonly key: keyof FlowCounts;
  readonly label: string;
  /** Lines differ also without colour. */
  readonly dash: readonly number[];
}

export const RATES: readonly RateSeries[] = [
  { key: 'rerouted', label: 'Rerouted', dash: [] },
  { key: 'prevented404', label: 'Prevented 404', dash: [7, 4] },
  { key: 'held503', label: 'Held with 503', dash: [2, 3] },
  { key: 'failovers', label: 'Failovers', dash: [9, 3, 2, 3] },
];

export const CHART_SECONDS = 300;

/**
 * Returns the columns of the chart: Unix seconds, then the counts of each rate. Seconds that did not come are zero, so that the axis
 * is even; the last second is left out, because it is still counted.
 */
export function chartColumns(seconds: readonly FlowSecond[], nowMs: number): number[][] {
  const end = Math.floor(nowMs / 1_000) - 1;
  const start = end - CHART_SECONDS + 1;
  const bySecond = new Map(seconds.map((each) => [Math.floor(each.atMs / 1_000), each]));
  const times = Array.from({ length: CHART_SECONDS }, (_, index) => start + index);
  return [times, ...RATES.map(({ key }) => times.map((time) => bySecond.get(time)?.[key] ?? 0))];
}
