import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bar, CaseResult, Row } from './bench-case.js';
import { figure, plot } from './plot.js';

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
  const verdicts = bars.map((bar) => [
    verdict(bar),
    bar.name,
    figure(bar.ratio),
    `(bar ${figure(bar.bar)}${interval(bar)})`,
  ]);
  return [`Node.js ${process.versions.node}`, '', ...table, '', ...aligned(verdicts)].join('\n');
}

/** `latest.json` for programs and `latest.svg` for people. */
export function writeResults(dir: string, result: CaseResult): void {
  mkdirSync(dir, { recursive: true });
  const rows: readonly Row[] = result.rows;
  const bars: readonly Bar[] = result.bars;
  writeFileSync(join(dir, 'latest.json'), `${JSON.stringify({ node: process.versions.node, rows, bars }, null, 2)}\n`);
  writeFileSync(join(dir, 'latest.svg'), plot(result));
}

function verdict({ holds, notMeasurable }: Bar): string {
  if (notMeasurable) return 'NOT MEASURABLE';
  return holds ? 'holds' : 'FAILS';
}

function interval({ low, high, rounds }: Bar): string {
  return low === undefined || high === undefined ? '' : `, ${figure(low)} to ${figure(high)} in ${rounds} rounds`;
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
