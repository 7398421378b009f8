import type { Json } from '../../kube/json.js';
import { internalForm } from './internal-form.js';

const CONTEXT_LINES = 3;
/** In documents of more lines, a match does not start at a line that occurs often, such as a brace. */
const POPULAR_FROM_LINES = 200;
/** Longer documents are not compared: the cost is lines × lines, and again for each change. */
const LINES_MAX = 4_000;
/** Bound on the comparisons of two documents; the lines left then count as changed. */
const COMPARISONS_MAX = 1_000_000;

/** The hunks of a unified diff of two values in their internal form, with which some messages end. */
export function internalDifference(before: Json, after: Json, typeName: string): string {
  const old = linesOf(internalForm(before, typeName));
  const now = linesOf(internalForm(after, typeName));
  if (old.length > LINES_MAX || now.length > LINES_MAX) return '';
  const edits = editsBetween(old, now);
  return hunks(edits)
    .map((hunk) => hunkText(hunk, old, now))
    .join('');
}

function linesOf(value: Json): string[] {
  return JSON.stringify(value, null, 1).split('\n');
}

/** Lines from `i` to `iEnd` of the old become `j` to `jEnd` of the new. */
interface Edit {
  readonly isEqual: boolean;
  readonly i: number;
  readonly iEnd: number;
  readonly j: number;
  readonly jEnd: number;
}

interface Match {
  readonly i: number;
  readonly j: number;
  readonly size: number;
}

/** Finds the longest block in common, then does the same with the lines before and after it. */
function editsBetween(old: readonly string[], now: readonly string[]): Edit[] {
  const places = placesOf(now);
  const matches: Match[] = [];
  const budget = { comparisons: COMPARISONS_MAX };
  const pending: [number, number, number, number][] = [[0, old.length, 0, now.length]];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const [iStart, iEnd, jStart, jEnd] = range;
    const match = longestMatch({ old, now, places, budget }, range);
    if (match.size === 0) continue;
    matches.push(match);
    pending.push([iStart, match.i, jStart, match.j], [match.i + match.size, iEnd, match.j + match.size, jEnd]);
  }
  matches.sort((left, right) => left.i - right.i);
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  for (const match of [...matches, { i: old.length, j: now.length, size: 0 }]) {
    if (i < match.i || j < match.j) edits.push({ isEqual: false, i, iEnd: match.i, j, jEnd: match.j });
    [i, j] = [match.i + match.size, match.j + match.size];
    if (match.size > 0) edits.push({ isEqual: true, i: match.i, iEnd: i, j: match.j, jEnd: j });
  }
  return edits;
}

function placesOf(lines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else known.push(index);
  }
  if (lines.length < POPULAR_FROM_LINES) return places;
  const most = Math.floor(lines.length / 100) + 1;
  for (const [line, found] of places) if (found.length > most) places.delete(line);
  return places;
}

interface Lines {
  readonly old: readonly string[];
  readonly now: readonly string[];
  readonly places: ReadonlyMap<string, number[]>;
  readonly budget: { comparisons: number };
}

function longestMatch(
  { old, now, places, budget }: Lines,
  [iStart, iEnd, jStart, jEnd]: readonly [number, number, number, number],
): Match {
  let best: Match = { i: iStart, j: jStart, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = iStart; i < iEnd; i++) {
    const next = new Map<number, number>();
    const found = places.get(old[i]!) ?? [];
    budget.comparisons -= found.length + 1;
    if (budget.comparisons < 0) return { i: iStart, j: jStart, size: 0 };
    for (const j of found) {
      if (j < jStart || j >= jEnd) continue;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { i: i - size + 1, j: j - size + 1, size };
    }
    lengths = next;
  }
  let { i, j, size } = best;
  while (i > iStart && j > jStart && old[i - 1] === now[j - 1]) {
    i--;
    j--;
    size++;
  }
  while (i + size < iEnd && j + size < jEnd && old[i + size] === now[j + size]) size++;
  return { i, j, size };
}

/** Groups changes that are near each other, with lines of context around them. */
function hunks(edits: readonly Edit[]): Edit[][] {
  if (!edits.some(({ isEqual }) => !isEqual)) return [];
  const groups: Edit[][] = [];
  let group: Edit[] = [];
  for (const [index, edit] of edits.entries()) {
    if (!edit.isEqual) {
      group.push(edit);
      continue;
    }
    const { iEnd, jEnd } = edit;
    const size = iEnd - edit.i;
    const lead = Math.min(size, CONTEXT_LINES);
    const isFirst = index === 0;
    const isLast = index === edits.length - 1;
    if (isFirst) group.push({ ...edit, i: iEnd - lead, j: jEnd - lead });
    else if (isLast) group.push({ ...edit, iEnd: edit.i + lead, jEnd: edit.j + lead });
    else if (size <= 2 * CONTEXT_LINES) group.push(edit);
    else {
      group.push({ ...edit, iEnd: edit.i + lead, jEnd: edit.j + lead });
      groups.push(group);
      group = [{ ...edit, i: iEnd - lead, j: jEnd - lead }];
    }
  }
  groups.push(group);
  return groups;
}

function hunkText(hunk: readonly Edit[], old: readonly string[], now: readonly string[]): string {
  const first = hunk[0]!;
  const last = hunk.at(-1)!;
  const range = (from: number, to: number): string => `${from + 1},${to - from}`;
  const lines = hunk.flatMap(({ isEqual, i, iEnd, j, jEnd }) =>
    isEqual
      ? old.slice(i, iEnd).map((line) => ` ${line}`)
      : [...old.slice(i, iEnd).map((line) => `-${line}`), ...now.slice(j, jEnd).map((line) => `+${line}`)],
  );
  const head = `@@ -${range(first.i, last.iEnd)} +${range(first.j, last.jEnd)} @@`;
  return `${[head, ...lines].join('\n')}\n`;
}
