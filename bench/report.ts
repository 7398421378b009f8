import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Bar, CaseResult, Row } from './bench-case.js';

export function printTable({ rows, bars }: CaseResult): string {
  const lines = rows.map(({ case: name, contestant, metric, unit, median, min, max }) => [
    name,
    contestant,
    metric,
    figure(median),
    figure(min),
    figure(max),
    unit,
  ]);
  const table = aligned([['case', 'contestant', 'metric', 'median', 'min', 'max', 'unit'], ...lines]);
  const verdicts = bars.map(({ name, ratio, bar, holds }) => [
    holds ? 'holds' : 'FAILS',
    name,
    figure(ratio),
    `(bar ${figure(bar)})`,
  ]);
  return [...table, '', ...aligned(verdicts)].join('\n');
}

export function writeResults(file: string, result: CaseResult): void {
  mkdirSync(dirname(file), { recursive: true });
  const rows: readonly Row[] = result.rows;
  const bars: readonly Bar[] = result.bars;
  writeFileSync(file, `${JSON.stringify({ rows, bars }, null, 2)}\n`);
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const line of lines) for (const [i, cell] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  const isFigure = (cell: string): boolean => /^[\d.]+$/.test(cell);
  return lines.map((line) =>
    line
      .map((cell, i) => (isFigure(cell) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}
