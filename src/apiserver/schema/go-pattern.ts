import { RE2JS, RE2JSException } from 're2js';
import { patternSize } from './pattern-size.js';

/** Bound on the compiled patterns that are kept; the oldest is dropped first. */
export const PATTERNS_KEPT_MAX = 2_000;
/** Bound on the length of a pattern: its compiled form takes many times as much memory. */
export const PATTERN_LENGTH_MAX = 32 * 1024;
/** Patterns that compile to more instructions are refused, as Go refuses those of some millions. */
export const PATTERN_SIZE_MAX = 20_000;

/** Bound on the work of all matches of one object, in characters times instructions: about a second at worst. */
export const PATTERN_WORK_MAX = 50_000_000;
/** Bound on the work of one match, which cannot be interrupted. */
export const MATCH_WORK_MAX = 5_000_000;

const compiled = new Map<string, RE2JS | string>();

/** The problem of a regular expression in Go's syntax, in Go's words; undefined for a valid one. */
export function patternProblem(pattern: string): string | undefined {
  if (verdicts.has(pattern)) return verdicts.get(pattern);
  const known = compile(pattern);
  const problem = typeof known === 'string' ? known : undefined;
  verdicts.set(pattern, problem);
  verdictChars += pattern.length;
  for (const oldest of verdicts.keys()) {
    if (verdictChars <= VERDICT_CHARS_MAX) break;
    verdicts.delete(oldest);
    verdictChars -= oldest.length;
  }
  return problem;
}

/** Room for all patterns of one definition, which may be more than are kept compiled. */
const VERDICT_CHARS_MAX = 4 * 1024 * 1024;
const verdicts = new Map<string, string | undefined>();
let verdictChars = 0;

/**
 * A matcher for the patterns of one object. Each match takes time in proportion to text and pattern, and all together no
 * more than a bound: what lies beyond matches nothing, nor does a pattern that cannot be compiled.
 */
export function boundedMatcher(workMax = PATTERN_WORK_MAX): (pattern: string, text: string) => boolean {
  let remaining = workMax;
  return (pattern, text) => {
    const known = compile(pattern);
    if (typeof known === 'string') return false;
    const work = known.programSize() * (text.length + 1);
    remaining -= work;
    return work <= MATCH_WORK_MAX && remaining >= 0 && known.matcher(text).find();
  };
}

function compile(pattern: string): RE2JS | string {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compileNew(pattern);
  if (compiled.size >= PATTERNS_KEPT_MAX) compiled.delete(compiled.keys().next().value!);
  compiled.set(pattern, made);
  return made;
}

function compileNew(pattern: string): RE2JS | string {
  if (pattern.length > PATTERN_LENGTH_MAX) return `error parsing regexp: longer than ${PATTERN_LENGTH_MAX} characters`;
  if (patternSize(pattern) > PATTERN_SIZE_MAX) return 'error parsing regexp: expression too large';
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    // Whatever else a hostile pattern does to the compiler is no reason to fall over.
    return `error parsing regexp: ${(error as Error).message}`;
  }
}
