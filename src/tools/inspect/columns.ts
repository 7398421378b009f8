import { breakLines } from '../../base/break-lines.js';
import { printable } from '../../base/printable.js';
import { type Colors, inTone, NO_COLORS, type Tone } from '../../base/terminal-colors.js';

/** A cell of a table: its text, and a color that repeats what the text says. */
export type Cell = string | ToneText;

export interface ToneText {
  readonly text: string;
  readonly tone: Tone;
}

/** Returns the first row of a table. */
export function heads(names: readonly string[]): Cell[] {
  return names.map((text) => ({ text, tone: 'head' }));
}

export const GAP = '   ';
const NARROW_GAP = '  ';
/** In less room the last column is left to the terminal. */
const LAST_COLUMN_MIN = 24;

export interface TableLook {
  readonly colors: Colors;
  /** Of the terminal; undefined where a row is a line, however long. */
  readonly width?: number | undefined;
}

/** Returns a table in the style of kubectl: three blanks between columns, no trailing blanks. */
export function columns(rows: readonly (readonly Cell[])[], look?: TableLook): string {
  return tableRows(rows, look)
    .map((row) => `${row}\n`)
    .join('');
}

/**
 * Returns the rows of such a table, each of one line, or, on a terminal, of several where the last cell is too long for it. A
 * terminal that is too narrow gets narrower gaps, and then no columns in which nothing is known (`-`).
 */
export function tableRows(
  rows: readonly (readonly Cell[])[],
  { colors, width }: TableLook = { colors: NO_COLORS },
): string[] {
  const { cells, gap } = fitted(
    rows.map((row) => row.map(cleaned)),
    width,
  );
  const widths = widthsOf(cells);
  return cells.map((row) => rowText(row, { colors, width, widths, gap }));
}

function cleaned(cell: Cell): ToneText {
  const { text, tone } = typeof cell === 'string' ? ({ text: cell, tone: 'plain' } as const) : cell;
  // Servers say a part of some cells.
  return {
    text: printable(text)
      .replace(/[\t\n]+/g, ' ')
      .trimEnd(),
    tone,
  };
}

type Row = readonly ToneText[];

function fitted(
  rows: readonly Row[],
  width: number | undefined,
): { readonly cells: readonly Row[]; readonly gap: string } {
  if (width === undefined || lengthOf(rows, GAP) <= width) return { cells: rows, gap: GAP };
  if (lengthOf(rows, NARROW_GAP) <= width) return { cells: rows, gap: NARROW_GAP };
  const isKnown = (index: number): boolean => rows.length < 2 || rows.slice(1).some((row) => row[index]?.text !== '-');
  return { cells: rows.map((row) => row.filter((_, index) => isKnown(index))), gap: NARROW_GAP };
}

function lengthOf(rows: readonly Row[], gap: string): number {
  const widths = widthsOf(rows);
  return widths.reduce((total, each) => total + each, 0) + gap.length * Math.max(0, widths.length - 1);
}

function widthsOf(rows: readonly Row[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, index) => {
      widths[index] = Math.max(widths[index] ?? 0, text.length);
    });
  }
  return widths;
}

interface RowLook extends TableLook {
  readonly widths: readonly number[];
  readonly gap: string;
}

function rowText(row: Row, { colors, width, widths, gap }: RowLook): string {
  const last = row.findLastIndex(({ text }) => text !== '');
  const before = row.slice(0, Math.max(0, last)).map(({ text, tone }, index) => {
    return `${text === '' ? '' : inTone(tone, text, colors)}${' '.repeat(widths[index]! - text.length)}${gap}`;
  });
  if (last < 0) return '';
  const indent = widths.slice(0, last).reduce((total, each) => total + each + gap.length, 0);
  const { text, tone } = row[last]!;
  const room = width === undefined ? text.length : width - indent;
  const lines = text.length <= room || room < LAST_COLUMN_MIN ? [text] : breakLines(text.split(' '), room);
  return before.join('') + lines.map((line) => inTone(tone, line, colors)).join(`\n${' '.repeat(indent)}`);
}
