import { type CelType, formatType, sameType } from './cel-types.js';
import type { Issue } from './compile-error.js';
import { CelFailure } from './failure.js';
import { compilePattern } from './library/regex.js';
import { type Call, childrenOf, type Expr, type Literal } from './syntax.js';
import { parseDuration, parseTimestamp, TIMESTAMP_SECONDS_END, TIMESTAMP_SECONDS_MIN } from './time-text.js';

/**
 * The problems of literals in a checked expression: patterns and times that cannot be parsed, lists
 * and maps of several types, clauses of a format that do not fit their arguments.
 */
export function literalIssues(root: Expr): Issue[] {
  const issues: Issue[] = [];
  visit(root, false, issues);
  return issues;
}

/** Arguments of a format may be of several types. */
function visit(expr: Expr, isInFormat: boolean, issues: Issue[]): void {
  if (expr.kind === 'call') issues.push(...callIssues(expr));
  if (!isInFormat && expr.kind === 'list') issues.push(...mixedIssues(expr.items));
  if (!isInFormat && expr.kind === 'map') {
    const keys = mixedIssues(expr.entries.map(({ key }) => ({ value: key, isOptional: false })));
    issues.push(...keys, ...mixedIssues(expr.entries));
  }
  const isFormat = expr.kind === 'call' && expr.resolved!.name === 'format';
  for (const each of childrenOf(expr)) visit(each, isInFormat || isFormat, issues);
}

function mixedIssues(items: readonly { readonly value: Expr; readonly isOptional: boolean }[]): Issue[] {
  const typeOf = ({ value, isOptional }: (typeof items)[number]): CelType => {
    const type = value.type!;
    return isOptional && type.kind === 'optional' ? type.params[0]! : type;
  };
  const [first] = items;
  const wanted = first === undefined ? undefined : typeOf(first);
  const odd = items.find((each) => !sameType(typeOf(each), wanted!));
  if (odd === undefined) return [];
  return [
    { at: odd.value.at, message: `expected type '${formatType(wanted!)}' but found '${formatType(typeOf(odd))}'` },
  ];
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  matches: compilePattern,
  duration: parseDuration,
  timestamp: parseTimestamp,
};

function callIssues({ at, resolved }: Call): Issue[] {
  const { name, args } = resolved!;
  if (name === 'format') return formatIssues(at, args);
  if (name === 'timestamp' && args[0]?.kind === 'literal' && typeof args[0].value !== 'string')
    return secondsIssues(args[0]);
  const read = Object.hasOwn(READERS, name) ? READERS[name]! : undefined;
  const literal = name === 'matches' ? args[1] : args[0];
  if (read === undefined || literal?.kind !== 'literal' || typeof literal.value !== 'string') return [];
  try {
    read(literal.value);
    return [];
  } catch (error) {
    if (!(error instanceof CelFailure)) throw error;
    return [{ at: literal.at, message: `invalid ${name} argument` }];
  }
}

function secondsIssues({ at, value }: Literal): Issue[] {
  const isFit = Number(value) >= TIMESTAMP_SECONDS_MIN && Number(value) < TIMESTAMP_SECONDS_END;
  return isFit ? [] : [{ at, message: 'invalid timestamp argument' }];
}

const SHOWN = new Set('list map int uint double bool string timestamp bytes duration type null dyn'.split(' '));
const CLAUSES: Readonly<Record<string, { readonly kinds: ReadonlySet<string>; readonly rule: string }>> = {
  s: {
    kinds: SHOWN,
    rule: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { kinds: new Set(['int', 'uint', 'dyn']), rule: 'decimal clause can only be used on integers' },
  f: { kinds: new Set(['double', 'dyn']), rule: 'fixed-point clause can only be used on doubles' },
  e: { kinds: new Set(['double', 'dyn']), rule: 'scientific clause can only be used on doubles' },
  b: { kinds: new Set(['int', 'uint', 'bool', 'dyn']), rule: 'only integers and bools can be formatted as binary' },
  o: { kinds: new Set(['int', 'uint', 'dyn']), rule: 'octal clause can only be used on integers' },
  x: {
    kinds: new Set(['int', 'uint', 'string', 'bytes', 'dyn']),
    rule: 'only integers, byte buffers, and strings can be formatted as hex',
  },
};

function formatIssues(at: number, [pattern, list]: readonly Expr[]): Issue[] {
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string' || list?.kind !== 'list') return [];
  const found = [...pattern.value.matchAll(/%(?:\.\d*)?(.)?/gsu)].map((match) => match[1]);
  if (found.includes(undefined)) return [{ at, message: 'unexpected end of string' }];
  const verbs = (found as string[]).filter((verb) => verb !== '%');
  const odd = verbs.find((verb) => !Object.hasOwn(CLAUSES, verb.toLowerCase()));
  if (odd !== undefined) {
    return [{ at, message: `could not parse formatting clause: unrecognized formatting clause "${odd}"` }];
  }
  if (verbs.length > list.items.length) return [{ at, message: `index ${list.items.length} out of range` }];
  return verbs.flatMap((verb, index) => clauseIssues(verb, list.items[index]!.value));
}

function clauseIssues(verb: string, arg: Expr): Issue[] {
  const clause = CLAUSES[verb.toLowerCase()];
  if (clause === undefined) return [];
  const { kind } = arg.type!;
  if (!clause.kinds.has(kind)) {
    const given = kind === 'optional' ? 'optional_type' : formatType(arg.type!);
    return [{ at: arg.at, message: `error during formatting: ${clause.rule}, was given ${given}` }];
  }
  // Lists and maps that are written out are shown item by item.
  if (verb !== 's') return [];
  if (arg.kind === 'list') return first(arg.items.map(({ value }) => clauseIssues('s', value)));
  if (arg.kind === 'map') return first(arg.entries.map(({ value }) => clauseIssues('s', value)));
  return [];
}

function first(issues: readonly Issue[][]): Issue[] {
  return issues.find((each) => each.length > 0) ?? [];
}
