import { describe, expect, it } from 'vitest';
import { AT_MS, row } from '../../test/page/states.js';
import { filteredRows, nextCell, rowsOfWindow, windowOf } from './skew-rows.js';

const ROWS = [
  row('jobs.v1.batch/status', ['served', 'rerouted'], 60_000),
  row('cronjobs.v1.batch', ['served', 'held'], 2 * 3_600_000),
  row('Widgets.v1.example.com', ['served', 'stale'], null),
];
const names = (filter: Partial<Parameters<typeof filteredRows>[1]>) =>
  filteredRows(ROWS, { text: '', usedOnly: false, cell: 'any', ...filter }, AT_MS).map(({ name }) => name);

describe('the filter of the skew matrix', () => {
  it('leaves every row if nothing is chosen', () => {
    expect(filteredRows(ROWS, { text: '  ', usedOnly: false, cell: 'any' }, AT_MS)).toBe(ROWS);
  });

  it('finds words in any order and case', () => {
    expect(names({ text: 'BATCH job' })).toEqual(['jobs.v1.batch/status', 'cronjobs.v1.batch']);
    expect(names({ text: 'widgets' })).toEqual(['Widgets.v1.example.com']);
  });

  it('finds what was used within the last hour by the clock of the server', () => {
    expect(names({ usedOnly: true })).toEqual(['jobs.v1.batch/status']);
  });

  it('finds rows with a cell of a state', () => {
    expect(names({ cell: 'held' })).toEqual(['cronjobs.v1.batch']);
    expect(names({ cell: 'held', text: 'widgets' })).toEqual([]);
  });
});

describe('the keys of the skew matrix', () => {
  const size = { rows: 100, columns: 5, pageRows: 10 };

  it.each([
    ['ArrowDown', false, 51, 2],
    ['ArrowUp', false, 49, 2],
    ['ArrowLeft', false, 50, 1],
    ['ArrowRight', false, 50, 3],
    ['PageDown', false, 60, 2],
    ['PageUp', false, 40, 2],
    ['Home', false, 50, 0],
    ['End', false, 50, 4],
    ['Home', true, 0, 0],
    ['End', true, 99, 4],
  ])('%s (control: %s) leads from row 50, column 2 to row %d, column %d', (key, control, toRow, column) => {
    expect(nextCell(key, control, { row: 50, column: 2 }, size)).toEqual({ row: toRow, column });
  });

  it('end at the edges', () => {
    expect(nextCell('ArrowUp', false, { row: 0, column: 0 }, size)).toEqual({ row: 0, column: 0 });
    expect(nextCell('PageDown', false, { row: 95, column: 4 }, size)).toEqual({ row: 99, column: 4 });
  });

  it('leave other keys to the browser', () => {
    expect(nextCell('Tab', false, { row: 0, column: 0 }, size)).toBeUndefined();
  });
});

describe('the rows that are drawn', () => {
  it('are those in sight and a few more', () => {
    expect(windowOf(2_600, 520, 26, 5_000)).toEqual({ first: 92, end: 128 });
  });

  it('are never more than the elements that take turns', () => {
    for (let scrollTop = 2_000; scrollTop < 2_100; scrollTop++) {
      const { first, end } = windowOf(scrollTop, 523, 26, 5_000);
      expect(end - first).toBeLessThanOrEqual(rowsOfWindow(523, 26));
    }
  });

  it('end with the last row, also where a filter made the table shorter than the place of scrolling', () => {
    expect(windowOf(130_000, 520, 26, 5_000)).toEqual({ first: 4_992, end: 5_000 });
    const { first, end } = windowOf(130_000, 520, 26, 3);
    expect(first).toBeLessThanOrEqual(end);
    expect(end).toBe(3);
  });
});
