import { printable, printableLine } from '../../../base/printable.js';
import type { Colors } from '../../../base/terminal-colors.js';
import type { ExecResult, HalfResult, RehearsalResult } from '../rehearsal-result.js';
import { differenceLines } from './difference-lines.js';
import { type FindingCell, type FindingRow, findingRows, type Standing } from './finding-rows.js';
import { type StepCell, stepRows } from './step-rows.js';
import { verdictOf } from './verdict.js';
import { clockText, durationText, EXAMPLE_TITLES, halfName, isQuiet, momentText, plural } from './words.js';

const EXAMPLES_OF_KIND_MAX = 3;
const EXAMPLE_CHARACTERS_MAX = 200;
const OUTPUT_LINES_MAX = 10;
const GAP = 3;

const MARKS: Readonly<Record<Standing, string>> = { harm: '✗ ', notice: '! ', clean: '✓ ', figure: '  ' };

/** Returns the report for a terminal; it ends with a newline. */
export function terminalReport(result: RehearsalResult, colors: Colors): string {
  const sections = [
    heading(result, colors),
    differences(result, colors),
    findings(result, colors),
    steps(result, colors),
    ...result.halves.map((half) => examples(half, colors)),
    ...result.halves.map((half) => lastFailedRun(half, colors)),
    verdict(result, colors),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function heading({ from, to, servers, made, startedAt, halves }: RehearsalResult, colors: Colors): string {
  const duration = halves.reduce((total, { durationMs }) => total + durationMs, 0);
  const facts = `${plural(servers, 'server')}: ${made} · ${momentText(startedAt)} · ${durationText(duration)}`;
  return [colors.bold(printable(`Rehearsal: ${from} → ${to} and back`)), colors.dim(printable(facts))].join('\n');
}

function differences(result: RehearsalResult, colors: Colors): string {
  return differenceLines(result)
    .map((line) => (line.startsWith('Only ') ? colors.bold(line) : line))
    .join('\n');
}

/** Returns the table of findings. The meaning of a row is printed only if it has a finding. */
function findings(result: RehearsalResult, colors: Colors): string {
  const rows = findingRows(result);
  const title = Math.max(...rows.map((row) => row.title.length)) + GAP;
  const width = Math.max(...rows.flatMap(({ cells }) => cells.map((cell) => cellText(cell).length))) + GAP;
  const head = ' '.repeat(title) + result.halves.map(({ proxy }) => `  ${halfName(proxy)}`.padEnd(width)).join('');
  const lines = rows.flatMap((row) => {
    const cells = row.cells.map((cell) => paint(cell.standing, cellText(cell).padEnd(width), colors)).join('');
    return [`${row.title.padEnd(title)}${cells}`, ...(hasMeaning(row) ? [colors.dim(`  ${row.meaning}`)] : [])];
  });
  return [colors.bold(head), ...lines].map(withoutTail).join('\n');
}

function hasMeaning({ cells }: FindingRow): boolean {
  return cells.some(({ standing }) => standing === 'harm' || standing === 'notice');
}

function cellText({ standing, text, added }: FindingCell): string {
  return `${MARKS[standing]}${text}${added === undefined ? '' : ` (${added})`}`;
}

function paint(standing: Standing, text: string, colors: Colors): string {
  if (standing === 'harm') return colors.red(text);
  if (standing === 'notice') return colors.yellow(text);
  return standing === 'clean' ? colors.green(text) : text;
}

function steps({ halves }: RehearsalResult, colors: Colors): string {
  const rows = stepRows(halves).map(({ name, cells }) => ({ name: printable(name), cells: cells.map(stepText) }));
  if (rows.length === 0) return '';
  const title = Math.max(...rows.map(({ name }) => name.length)) + GAP;
  const widths = halves.map((_, index) => Math.max(...rows.map(({ cells }) => cells[index]!.length), 10) + GAP);
  const line = (name: string, cells: readonly string[]) =>
    withoutTail(name.padEnd(title) + cells.map((cell, index) => cell.padEnd(widths[index]!)).join(''));
  const names = halves.map(({ proxy }) => halfName(proxy));
  return [
    colors.bold(line('Steps', names)),
    ...rows.map(({ name, cells }) => (isQuiet({ name }) ? colors.dim : String)(line(name, cells))),
  ].join('\n');
}

function stepText(cell: StepCell | undefined): string {
  if (cell === undefined) return '–';
  const { step, wrong404s, unavailable503s, discoveryFlaps } = cell;
  const met = [
    wrong404s > 0 ? plural(wrong404s, 'wrong 404') : [],
    unavailable503s > 0 ? `${unavailable503s} × 503` : [],
    discoveryFlaps > 0 ? plural(discoveryFlaps, 'flap') : [],
  ].flat();
  return [`${clockText(step.beginMs)}–${clockText(step.endMs)}`, ...met].join('  ');
}

function examples({ proxy, examples: all }: HalfResult, colors: Colors): string {
  if (all.length === 0) return '';
  const kinds = Object.entries(EXAMPLE_TITLES).flatMap(([kind, title]) => {
    const shown = all.filter((example) => example.kind === kind).slice(0, EXAMPLES_OF_KIND_MAX);
    if (shown.length === 0) return [];
    return [`  ${title}`, ...shown.map(({ atMs, text }) => `    ${colors.dim(clockText(atMs))}  ${oneLine(text)}`)];
  });
  return [colors.bold(`Examples, ${halfName(proxy)}`), ...kinds].join('\n');
}

function oneLine(text: string): string {
  const line = printableLine(text);
  return line.length > EXAMPLE_CHARACTERS_MAX ? `${line.slice(0, EXAMPLE_CHARACTERS_MAX - 1)}…` : line;
}

/** Returns the output of the last failed run; nothing if all runs passed. */
function lastFailedRun({ proxy, exec }: HalfResult, colors: Colors): string {
  const failed = exec.filter(({ exitCode }) => exitCode !== 0);
  const last = failed.at(-1);
  if (last === undefined) return '';
  return [
    colors.bold(`Own program, ${halfName(proxy)}: ${failed.length} of ${plural(exec.length, 'run')} failed`),
    `  ${runText(last)}`,
    ...printable(last.output)
      .trimEnd()
      .split('\n')
      .slice(-OUTPUT_LINES_MAX)
      .map((line) => colors.dim(`    ${line}`)),
  ].join('\n');
}

function runText({ beginMs, endMs, exitCode }: ExecResult): string {
  return `${clockText(beginMs)}–${clockText(endMs)}: exit code ${exitCode}`;
}

function verdict(result: RehearsalResult, colors: Colors): string {
  const { tone, headline, sentence } = verdictOf(result);
  const [mark, painted] =
    tone === 'good' ? ['✓', colors.green] : tone === 'harm' ? ['✗', colors.red] : ['!', colors.yellow];
  return `${colors.bold(painted(`${mark} ${headline}.`))}\n${printable(sentence)}`;
}

function withoutTail(line: string): string {
  // Padding before the sequence that ends a colour stays: it cannot be seen.
  return line.trimEnd();
}
