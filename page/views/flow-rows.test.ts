import { describe, expect, it } from 'vitest';
import { AT_MS, flowRow, flowRows, flowSeconds } from '../../test/page/states.js';
import { CHART_SECONDS, chartColumns, chosenRows, FLOW_ROWS_SHOWN } from './flow-rows.js';

describe('the requests that are shown', () => {
  it('are those of a choice', () => {
    const rows = [
      flowRow(1, { kind: 'local', status: 404 }),
      flowRow(2, { kind: 'rerouted', status: 200 }),
      flowRow(3, { kind: 'held', status: 503 }),
    ];
    const ids = (choice: Parameters<typeof chosenRows>[1]) => chosenRows(rows, choice).map(({ id }) => id);
    expect([ids('all'), ids('rerouted'), ids('held'), ids('failed')]).toEqual([[1, 2, 3], [2], [3], [1, 3]]);
  });

  it('are not more than can be read', () => {
    expect(chosenRows(flowRows(400), 'all')).toHaveLength(FLOW_ROWS_SHOWN);
  });
});

describe('the columns of the chart', () => {
  it('have each second once, zero where nothing came, without the second that is still counted', () => {
    const [times, rerouted] = chartColumns(flowSeconds(20), AT_MS);
    expect(times).toHaveLength(CHART_SECONDS);
    expect(times!.at(-1)).toBe(AT_MS / 1_000 - 1);
    expect(new Set(times!.slice(1).map((time, index) => time - times![index]!))).toEqual(new Set([1]));
    expect(rerouted!.slice(0, CHART_SECONDS - 20).every((count) => count === 0)).toBe(true);
    expect(rerouted!.at(-1)).toBe(flowSeconds(20).at(-1)!.rerouted);
  });
});
