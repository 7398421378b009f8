import { CelCompileError, type Issue } from './compile-error.js';
import { readString } from './string-literal.js';
import { CelDouble, CelUint, INT_MAX, INT_MIN, intFrom, UINT_MAX, type Value } from './values.js';

/** Bound on the length of an expression, in code units. */
const EXPRESSION_LENGTH_MAX = 65_535;

export interface Token {
  /** `op` for punctuation, `keyword` for true, false, null and in. */
  readonly kind: 'ident' | 'quoted' | 'literal' | 'op' | 'keyword' | 'end';
  readonly text: string;
  readonly at: number;
  readonly value?: Value;
}

interface Found {
  readonly token: Token | undefined;
  readonly end: number;
}

const OPERATORS = ['&&', '||', '<=', '>=', '==', '!=', ...'<>+-*/%!?:.,()[]{}'];
const SPACE = /(?:[\s\f]|\/\/[^\n]*)*/y;
const IDENT = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED_IDENT = /`[A-Za-z0-9_.\-/ ]+`/y;
const NUMBER = /0x[0-9a-fA-F]+u?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+u?/iy;
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y;
const KEYWORDS = new Set(['true', 'false', 'null', 'in']);

/** Splits an expression into tokens. Other characters are left out and reported in `issues`. */
export function tokenize(source: string, issues: Issue[]): Token[] {
  if (source.length > EXPRESSION_LENGTH_MAX) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${EXPRESSION_LENGTH_MAX}`;
    throw new CelCompileError('', [{ at: 0, message }]);
  }
  const tokens: Token[] = [];
  let at = endOf(SPACE, source, 0);
  while (at < source.length) {
    const { token, end } = tokenAt(source, at);
    if (token !== undefined) tokens.push(token);
    else issues.push({ at, message: `Syntax error: token recognition error at: '${source.slice(at, end)}'` });
    at = endOf(SPACE, source, end);
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length });
  return tokens;
}

function tokenAt(source: string, at: number): Found {
  const opening = matchAt(STRING_START, source, at);
  if (opening !== undefined) {
    const { value, end } = readString(source, at, opening);
    if (value === undefined) return { token: undefined, end };
    return { token: { kind: 'literal', text: source.slice(at, end), at, value }, end };
  }
  const number = matchAt(NUMBER, source, at);
  if (number !== undefined) {
    return {
      token: { kind: 'literal', text: number, at, value: numberOf(source, at, number) },
      end: at + number.length,
    };
  }
  const ident = matchAt(IDENT, source, at);
  if (ident !== undefined) {
    return { token: { kind: KEYWORDS.has(ident) ? 'keyword' : 'ident', text: ident, at }, end: at + ident.length };
  }
  const quoted = matchAt(QUOTED_IDENT, source, at);
  if (quoted !== undefined) {
    return { token: { kind: 'quoted', text: quoted.slice(1, -1), at }, end: at + quoted.length };
  }
  const operator = OPERATORS.find((each) => source.startsWith(each, at));
  if (operator !== undefined) return { token: { kind: 'op', text: operator, at }, end: at + operator.length };
  // Half an operator is reported together with the next character.
  const length = '=&|'.includes(source[at]!) ? 2 : String.fromCodePoint(source.codePointAt(at)!).length;
  return { token: undefined, end: Math.min(source.length, at + length) };
}

function numberOf(source: string, at: number, text: string): Value {
  const isHex = /^0x/i.test(text);
  if (!isHex && /[.e]/i.test(text)) return new CelDouble(Number(text));
  const isUnsigned = /u$/i.test(text);
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text);
  if (isUnsigned) {
    if (value > UINT_MAX) throw new CelCompileError(source, [{ at, message: 'invalid uint literal' }]);
    return new CelUint(value);
  }
  // The largest int plus one is accepted here: it is valid after a minus sign.
  if (value > -INT_MIN) throw new CelCompileError(source, [{ at, message: 'invalid int literal' }]);
  return value > INT_MAX ? value : intFrom(value);
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

function endOf(pattern: RegExp, source: string, at: number): number {
  return at + (matchAt(pattern, source, at)?.length ?? 0);
}
