/** Bound on the lines of a part that differs, for which the shortest difference is searched. */
const LINES_MAX = 2_000;
const CONTEXT_LINES = 3;

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Returns the difference of two texts in the unified format; undefined texts are files that are not there. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  const lines = differences(linesOf(before), linesOf(after));
  const head = `--- ${before === undefined ? '/dev/null' : path}\n+++ ${after === undefined ? '/dev/null' : path}\n`;
  return head + hunks(lines).join('');
}

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function differences(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  return [
    ...before.slice(0, start).map((text): Line => ({ mark: ' ', text })),
    ...shortest(before.slice(start, before.length - tail), after.slice(start, after.length - tail)),
    ...before.slice(before.length - tail).map((text): Line => ({ mark: ' ', text })),
  ];
}

/** By the longest common subsequence; beyond the bound everything is replaced. */
function shortest(before: readonly string[], after: readonly string[]): readonly Line[] {
  const all = (mark: '-' | '+', texts: readonly string[]) => texts.map((text): Line => ({ mark, text }));
  if (before.length > LINES_MAX || after.length > LINES_MAX) return [...all('-', before), ...all('+', after)];
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const skip = Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
      common[i * width + j] = before[i] === after[j] ? common[(i + 1) * width + j + 1]! + 1 : skip;
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i++]! });
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) {
      lines.push({ mark: '-', text: before[i++]! });
    } else {
      lines.push({ mark: '+', text: after[j++]! });
    }
  }
  return [...lines, ...all('-', before.slice(i)), ...all('+', after.slice(j))];
}

function hunks(lines: readonly Line[]): readonly string[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ mark }) => mark !== ' '),
  );
  const result: string[] = [];
  let before = 1;
  let after = 1;
  for (let index = 0; index < lines.length; ) {
    const end = isNear.indexOf(!isNear[index], index);
    const part = lines.slice(index, end < 0 ? lines.length : end);
    const removed = part.filter(({ mark }) => mark !== '+').length;
    const added = part.filter(({ mark }) => mark !== '-').length;
    if (isNear[index]) {
      const text = part.map((line) => `${line.mark}${line.text}\n`).join('');
      result.push(`@@ -${range(before, removed)} +${range(after, added)} @@\n${text}`);
    }
    before += removed;
    after += added;
    index += part.length;
  }
  return result;
}

function range(start: number, count: number): string {
  return `${count === 0 ? start - 1 : start},${count}`;
}
