import { RE2JS } from 're2js';
import { CHARACTER_COST, PATTERN_COST } from '../budget.js';
import { fail, noSuchOverload } from '../failure.js';
import { type CallCost, declare } from '../overload.js';
import { type CelInt, CelList, sizeOf } from '../values.js';

/** Bound on the compiled patterns that are kept. */
const PATTERNS_MAX = 256;
/** Bound on the length of a pattern: its compiled form takes many times as much memory. */
const PATTERN_LENGTH_MAX = 10_000;

const compiled = new Map<string, RE2JS>();

/** Compiles a pattern in Go's syntax, which matches in linear time. */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > PATTERN_LENGTH_MAX) return fail('error parsing regexp: expression too large');
  let made: RE2JS;
  try {
    made = RE2JS.compile(pattern);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  if (compiled.size >= PATTERNS_MAX) compiled.delete(compiled.keys().next().value!);
  compiled.set(pattern, made);
  return made;
}

const matching: CallCost = ([text, pattern]) =>
  Math.ceil((1 + sizeOf(text!)) * CHARACTER_COST) * Math.ceil(sizeOf(pattern!) * PATTERN_COST);

export const REGEX = [
  declare('matches(string, string) -> bool', matches, matching),
  declare('string::matches(string) -> bool', matches, matching),
  declare('string::find(string) -> string', find, matching),
  declare('string::findAll(string) -> list<string>', findAll, matching),
  declare('string::findAll(string, int) -> list<string>', findAll, matching),
];

function matches(text: string, pattern: string): boolean {
  return compilePattern(pattern).matcher(text).find();
}

function find(text: string, pattern: string): string {
  const matcher = illegalAware(pattern).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

function findAll(text: string, pattern: string, countMax: CelInt = -1): CelList {
  if (typeof countMax !== 'number' && typeof countMax !== 'bigint') return noSuchOverload();
  const matcher = illegalAware(pattern).matcher(text);
  const found: string[] = [];
  while ((countMax < 0 || found.length < countMax) && matcher.find()) found.push(matcher.group() ?? '');
  return new CelList(found);
}

function illegalAware(pattern: string): RE2JS {
  try {
    return compilePattern(pattern);
  } catch (error) {
    return fail(`Illegal regex: ${(error as { message: string }).message}`);
  }
}
