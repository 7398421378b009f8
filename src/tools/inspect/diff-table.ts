import { printableLine } from '../../base/printable.js';
import { type Cell, GAP, heads, type ToneText, tableRows } from './columns.js';
import type { DiffReport, ResourceDifference } from './diff-report.js';
import { sentenceText, type TextLook } from './text-look.js';

type Server = DiffReport['servers'][number];

/** Servers of one version that serve the same: one column. */
interface Column {
  readonly servers: readonly Server[];
  /** One below the other. */
  readonly heads: readonly string[];
}

/** A resource, or subresources, with the same cells. */
interface Row {
  readonly label: string;
  /** Subresources that are served like the resource: `/status`. */
  readonly like: string[];
  readonly cells: readonly ToneText[];
}

/** Columns that leave less than this to names are left out. */
const NAME_WIDTH_MIN = 24;
/** Heads that leave less than this to names get letters in place of names. */
const NAME_WIDTH_GOOD = 48;
/** Missing verbs are listed up to this length. */
const CELL_WIDTH_MAX = 24;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Returns which servers serve what, in the width of the screen unless `wide` is given. */
export function diffTable(
  { servers, resources }: DiffReport,
  wide: boolean,
  look: TextLook & { readonly width: number },
): string {
  const all = columnsOf(servers, resources);
  const chosen = wide ? { shown: all, lettered: false } : fitting(all, resources, look.width);
  const { shown, lettered } = chosen;
  const rows = rowsOf(resources, shown, wide);
  const names = wide ? Number.POSITIVE_INFINITY : look.width - cellsWidth(shown, rows);
  const table = laidOut(rows, shown, names, look);
  const legend = lettered
    ? shown
        .map(({ heads: [letter], servers: those }) =>
          sentenceText(`${letter}: ${namesOf(those)} (${versionOf(those)}).`, look),
        )
        .join('')
    : '';
  const left = all.slice(shown.length).flatMap(({ servers: those }) => those);
  const rest =
    left.length === 0
      ? ''
      : sentenceText(`Not in the table: ${left.map(({ name }) => name).join(', ')}; see -o wide.`, look);
  return `${table}${legend === '' && rest === '' ? '' : `\n${legend}${rest}`}`;
}

function columnsOf(servers: readonly Server[], resources: readonly ResourceDifference[]): Column[] {
  const alike = new Map<string, Server[]>();
  for (const server of servers) {
    const key = JSON.stringify([server.version, resources.map(({ servedBy }) => servedBy[server.name] ?? null)]);
    alike.set(key, [...(alike.get(key) ?? []), server]);
  }
  return [...alike.values()].map((those) => ({ servers: those, heads: [namesOf(those), versionOf(those)] }));
}

function namesOf(those: readonly Server[]): string {
  return printableLine(those.map(({ name }) => name).join(', '));
}

function versionOf(those: readonly Server[]): string {
  return printableLine(those[0]!.version || '?');
}

/** Returns as many columns as fit, with letters for heads if the names leave too little to the resources. */
function fitting(
  all: readonly Column[],
  resources: readonly ResourceDifference[],
  width: number,
): { readonly shown: readonly Column[]; readonly lettered: boolean } {
  const left = (shown: readonly Column[]): number => width - cellsWidth(shown, rowsOf(resources, shown, false));
  const longest = Math.max(...resources.map(({ name }) => name.length));
  if (left(all) >= Math.min(longest, NAME_WIDTH_GOOD)) return { shown: all, lettered: false };
  let shown: readonly Column[] = all
    .slice(0, LETTERS.length)
    .map(({ servers }, index) => ({ servers, heads: [LETTERS[index]!] }));
  while (shown.length > 1 && left(shown) < NAME_WIDTH_MIN) shown = shown.slice(0, -1);
  return { shown, lettered: true };
}

function cellsWidth(shown: readonly Column[], rows: readonly Row[]): number {
  const widths = shown.map((column, index) =>
    Math.max(...column.heads.map(({ length }) => length), ...rows.map(({ cells }) => cells[index]!.text.length)),
  );
  return widths.reduce((total, width) => total + GAP.length + width, 0);
}

/** Groups subresources with their resource. The resources are in order. */
function rowsOf(resources: readonly ResourceDifference[], shown: readonly Column[], wide: boolean): Row[] {
  const rows: Row[] = [];
  let resource = '';
  for (const each of resources) {
    const cells = cellsOf(each, shown, wide);
    const slash = each.name.indexOf('/');
    const last = rows.at(-1);
    if (slash < 0 || last === undefined || each.name.slice(0, slash) !== resource) {
      resource = slash < 0 ? each.name : '';
      rows.push({ label: each.name, like: [], cells });
      continue;
    }
    const subresource = each.name.slice(slash);
    const same = JSON.stringify(cells) === JSON.stringify(last.cells);
    if (same) last.like.push(subresource);
    else rows.push({ label: `  ${subresource}`, like: [], cells });
  }
  return rows;
}

function cellsOf({ servedBy }: ResourceDifference, shown: readonly Column[], wide: boolean): ToneText[] {
  const verbs = [...new Set(Object.values(servedBy).flatMap((each) => each ?? []))];
  return shown.map(({ servers }) => cell(servedBy[servers[0]!.name] ?? null, verbs, wide));
}

/** Returns `yes` if no verb is lacking, else the lacking verbs. */
function cell(served: readonly string[] | null, verbs: readonly string[], wide: boolean): ToneText {
  if (served === null) return { text: '-', tone: 'doubt' };
  const lacking = verbs.filter((verb) => !served.includes(verb));
  const tone = lacking.length === 0 ? 'good' : 'doubt';
  if (wide) return { text: served.join(','), tone };
  if (lacking.length === 0) return { text: 'yes', tone };
  const text = `no ${lacking.join(',')}`;
  return { text: text.length <= CELL_WIDTH_MAX ? text : `${served.length} of ${verbs.length} verbs`, tone };
}

/** Returns the lines of the table. A name that is too long for its column has lines of its own above its cells. */
function laidOut(rows: readonly Row[], shown: readonly Column[], names: number, look: TextLook): string {
  const lines = [0, ...(shown.some((each) => each.heads.length > 1) ? [1] : [])].map((line) => ({
    before: '',
    cells: heads([line === 0 ? 'RESOURCE' : '', ...shown.map((each) => each.heads[line] ?? '')]),
    after: '',
  }));
  for (const row of rows) lines.push(lineOf(row, names, look));
  const table = tableRows(
    lines.map(({ cells }) => cells),
    { colors: look.colors },
  );
  return lines.map(({ before, after }, index) => `${before}${table[index]}\n${after}`).join('');
}

interface Line {
  readonly before: string;
  readonly cells: Cell[];
  readonly after: string;
}

function lineOf({ label, like, cells }: Row, names: number, look: TextLook): Line {
  const whole = [label, ...like].join(', ');
  if (whole.length <= names) return { before: '', cells: [whole, ...cells], after: '' };
  const more = like.length > 0 ? `  and ${like.join(', ')}` : '';
  const below = more === '' ? '' : sentenceText(more, look, 'plain', ['  ', '    ']);
  if (label.length <= names) return { before: '', cells: [label, ...cells], after: below };
  const before = sentenceText(label, look);
  return more.length <= names
    ? { before, cells: [more, ...cells], after: '' }
    : { before, cells: ['', ...cells], after: below };
}
