const CONTEXT_LINES = 2;
const SHOWN_LINES_MAX = 60;
const LINES_MAX = 3_000;

/** What must be taken out (-) and put in (+) to come from one text to the other, with a little around it. */
export function lineDifference(expected: string, actual: string): string {
  const from = expected.split('\n').slice(0, LINES_MAX);
  const to = actual.split('\n').slice(0, LINES_MAX);
  const marked = aligned(from, to);
  const shown = marked.filter((_, index) => {
    const around = marked.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
    return around.some((line) => !line.startsWith(' '));
  });
  const rest = shown.length - SHOWN_LINES_MAX;
  return [...shown.slice(0, SHOWN_LINES_MAX), ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n');
}

function aligned(from: readonly string[], to: readonly string[]): string[] {
  const common = commonLengths(from, to);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      lines.push(` ${from[i]}`);
      i++;
      j++;
    } else if (j >= to.length || (i < from.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`-${from[i++]}`);
    } else lines.push(`+${to[j++]}`);
  }
  return lines;
}

/** `[i][j]`: how long the longest common run of lines is from there on. */
function commonLengths(from: readonly string[], to: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        from[i] === to[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}
