/** One problem of an expression. `at` is an offset in code units of the source. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** Bound on the reported issues, which is that of the reference implementation. */
const ISSUES_MAX = 100;
/** Longer lines of the source are left out of the message. */
const SNIPPET_LENGTH_MAX = 16_384;

/** An expression that is malformed or fails the type check; the message shows each place in the source. */
export class CelCompileError extends Error {
  constructor(
    readonly source: string,
    readonly issues: readonly Issue[],
  ) {
    super(describe(source, issues));
    this.name = 'CelCompileError';
  }
}

function describe(source: string, issues: readonly Issue[]): string {
  const sorted = [...issues].sort((left, right) => left.at - right.at);
  const shown = sorted.slice(0, ISSUES_MAX).map((issue) => describeOne(source, issue));
  if (issues.length > ISSUES_MAX) shown.push(`${issues.length - ISSUES_MAX} more errors were truncated`);
  return shown.join('\n');
}

function describeOne(source: string, { at, message }: Issue): string {
  const before = source.slice(0, at);
  const line = before.split('\n').length;
  const lineStart = before.lastIndexOf('\n') + 1;
  const column = [...source.slice(lineStart, at)].length;
  const title = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  const end = source.indexOf('\n', lineStart);
  const text = (end === -1 ? source.slice(lineStart) : source.slice(lineStart, end)).replaceAll('\t', ' ');
  if (text.length > SNIPPET_LENGTH_MAX) return title;
  const characters = [...text];
  // Wide characters get a wide dot, so that the mark stands below its place.
  const dots = characters.slice(0, column).map((each) => (isWide(each) ? '\uff0e' : '.'));
  const mark = isWide(characters[column] ?? ' ') ? '\uff3e' : '^';
  return `${title}\n | ${text}\n | ${dots.join('')}${mark}`;
}

function isWide(character: string): boolean {
  return character.codePointAt(0)! > 0x7f;
}
