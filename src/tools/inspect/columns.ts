import { printable } from '../../base/printable.js';
import { type Colors, inTone, NO_COLORS, type Tone } from '../../base/terminal-colors.js';

/** A cell of a table: its text, and a color that repeats what the text says. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** Returns the first row of a table. */
export function heads(names: readonly string[]): Cell[] {
  return names.map((text) => ({ text, tone: 'head' }));
}

export const GAP = '   ';

/** Returns a table in the style of kubectl: three blanks between columns, no trailing blanks. */
export function columns(rows: readonly (readonly Cell[])[], colors: Colors = NO_COLORS): string {
  const cells = rows.map((row) =>
    row.map((cell) => {
      const { text, tone } = typeof cell === 'string' ? ({ text: cell, tone: 'plain' } as const) : cell;
      // Servers say a part of some cells.
      return {
        text: printable(text)
          .replace(/[\t\n]+/g, ' ')
          .trimEnd(),
        tone,
      };
    }),
  );
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach(({ text }, index) => {
      widths[index] = Math.max(widths[index] ?? 0, text.length);
    });
  }
  return cells
    .map((row) => {
      const last = row.findLastIndex(({ text }) => text !== '');
      return row
        .slice(0, last + 1)
        .map(({ text, tone }, index) => {
          const padding = index === last ? '' : ' '.repeat((widths[index] ?? 0) - text.length);
          return `${text === '' ? '' : inTone(tone, text, colors)}${padding}`;
        })
        .join(GAP);
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns an age in the style of kubectl: `7s`, `3m`, `5h`, `12d`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
