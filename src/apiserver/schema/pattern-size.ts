/**
 * About how many instructions a regular expression of Go's kind compiles to: repetitions are written out, so a short pattern
 * can become a long program. Reads the text once and never throws; what is no valid pattern is left to the compiler.
 */
export function patternSize(pattern: string): number {
  /** Groups that are open, the whole pattern first. */
  const open: Size[] = [{ written: 0, repeated: 0 }];
  /** What a repetition would repeat. */
  let last: Size = { written: 0, repeated: 0 };
  const add = (size: Size): void => {
    const group = open.at(-1)!;
    group.written += size.written;
    group.repeated += size.repeated;
    last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') at++;
    else if (char === '[') at = classEnd(pattern, at);
    else if (char === '(') {
      open.push({ written: 2, repeated: 2 });
      continue;
    } else if (char === ')' && open.length > 1) {
      add(open.pop()!);
      continue;
    } else if (char === '{') {
      REPETITION.lastIndex = at;
      const [text = '', from, to] = REPETITION.exec(pattern) ?? [];
      if (text !== '') {
        const repeated = last.repeated * Math.max(Number(from), Number(to || 0), 1);
        // Repetitions of repetitions are refused by the compiler, with its error message.
        const size = { written: last.written, repeated: Math.min(repeated, REPEATS_MAX * last.written) };
        open.at(-1)!.repeated += size.repeated - last.repeated;
        last = size;
        at += text.length - 1;
        continue;
      }
    }
    add({ written: 1, repeated: 1 });
  }
  return open.reduce((sum, { repeated }) => sum + repeated, 0);
}

interface Size {
  written: number;
  repeated: number;
}

/** Go's limit, for repetitions within each other together. */
const REPEATS_MAX = 1_000;
const REPETITION = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y;

/** The place of the bracket that closes a class of characters; a bracket that comes first in it is one of them. */
function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length && pattern[at] !== ']'; at++) if (pattern[at] === '\\') at++;
  return at;
}
