import type { SkewCell, SkewRow } from '../../src/proxy/page/page-state.js';

export const USED_WITHIN_MS = 3_600_000;

export interface SkewFilter {
  readonly text: string;
  /** Only what was used within the last hour. */
  readonly usedOnly: boolean;
  readonly cell: SkewCell | 'any';
}

/** Returns the rows that a filter leaves, in their order. Words of the text may stand in any order. */
export function filteredRows(rows: readonly SkewRow[], filter: SkewFilter, nowMs: number): readonly SkewRow[] {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const { usedOnly, cell } = filter;
  if (words.length === 0 && !usedOnly && cell === 'any') return rows;
  return rows.filter(({ name, cells, usedAtMs }) => {
    if (usedOnly && (usedAtMs === null || nowMs - usedAtMs > USED_WITHIN_MS)) return false;
    if (cell !== 'any' && !cells.includes(cell)) return false;
    const lower = name.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}

export interface CellPlace {
  readonly row: number;
  readonly column: number;
}

export interface GridSize {
  readonly rows: number;
  readonly columns: number;
  /** Rows that a page key moves by. */
  readonly pageRows: number;
}

/** Returns the cell that a key leads to, as in any grid; undefined if the key is none of the grid. */
export function nextCell(key: string, withControl: boolean, from: CellPlace, size: GridSize): CellPlace | undefined {
  const to = moved(key, withControl, from, size);
  if (to === undefined) return undefined;
  return {
    row: Math.max(0, Math.min(size.rows - 1, to.row)),
    column: Math.max(0, Math.min(size.columns - 1, to.column)),
  };
}

function moved(key: string, withControl: boolean, { row, column }: CellPlace, size: GridSize): CellPlace | undefined {
  switch (key) {
    case 'ArrowDown':
      return { row: row + 1, column };
    case 'ArrowUp':
      return { row: row - 1, column };
    case 'ArrowRight':
      return { row, column: column + 1 };
    case 'ArrowLeft':
      return { row, column: column - 1 };
    case 'PageDown':
      return { row: row + size.pageRows, column };
    case 'PageUp':
      return { row: row - size.pageRows, column };
    case 'Home':
      return { row: withControl ? 0 : row, column: 0 };
    case 'End':
      return { row: withControl ? size.rows - 1 : row, column: size.columns - 1 };
    default:
      return undefined;
  }
}

export interface Window {
  readonly first: number;
  /** Not itself in the window. */
  readonly end: number;
}

const OVERSCAN_ROWS = 8;

/** Returns the most rows that `windowOf` returns for a height. */
export function rowsOfWindow(viewHeight: number, rowHeight: number): number {
  return Math.ceil(viewHeight / rowHeight) + 1 + 2 * OVERSCAN_ROWS;
}

/** Returns the rows to draw for a place of scrolling: those in sight and a few more on both sides. */
export function windowOf(scrollTop: number, viewHeight: number, rowHeight: number, rows: number): Window {
  const first = Math.max(0, Math.min(rows, Math.floor(scrollTop / rowHeight)) - OVERSCAN_ROWS);
  const end = Math.min(rows, Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN_ROWS);
  return { first, end: Math.max(first, end) };
}
