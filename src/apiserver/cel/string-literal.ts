import { CelCompileError } from './compile-error.js';

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
};
const NUMERIC = /^(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/;

interface StringLiteral {
  /** Undefined for a literal that is malformed or not closed. */
  readonly value: string | Uint8Array | undefined;
  readonly end: number;
}

/** Reads a string or bytes literal; `opening` is its prefix and opening quote. */
export function readString(source: string, at: number, opening: string): StringLiteral {
  const prefix = opening.replace(/["']/g, '').toLowerCase();
  const quote = opening.slice(prefix.length);
  const bodyStart = at + opening.length;
  const bodyEnd = closingQuote(source, bodyStart, quote, prefix.includes('r'));
  if (bodyEnd === undefined) return { value: undefined, end: endOfLine(source, at) };
  const body = source.slice(bodyStart, bodyEnd);
  const bad = prefix.includes('r') ? undefined : badEscape(body);
  if (bad !== undefined) return { value: undefined, end: bodyStart + bad + 2 };
  const end = bodyEnd + quote.length;
  if (prefix.includes('b')) return { value: bytesOf(source, at, body, prefix.includes('r')), end };
  return { value: prefix.includes('r') ? body : unescaped(source, at, body), end };
}

function closingQuote(source: string, from: number, quote: string, isRaw: boolean): number | undefined {
  for (let index = from; index < source.length; index++) {
    if (source.startsWith(quote, index)) return index;
    if (source[index] === '\\' && !isRaw) index++;
    if (quote.length === 1 && (source[index] === '\n' || source[index] === '\r')) return undefined;
  }
  return undefined;
}

/** The index of the first invalid escape sequence. */
function badEscape(body: string): number | undefined {
  for (let index = body.indexOf('\\'); index !== -1; ) {
    const isSimple = Object.hasOwn(SIMPLE, body[index + 1] ?? '');
    const match = isSimple ? null : NUMERIC.exec(body.slice(index + 1, index + 10));
    if (!isSimple && match === null) return index;
    index = body.indexOf('\\', index + 1 + (match?.[0].length ?? 1));
  }
  return undefined;
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

function unescaped(source: string, at: number, body: string): string {
  if (!body.includes('\\')) return body;
  let text = '';
  for (let index = 0; index < body.length; ) {
    if (body[index] !== '\\') {
      text += body[index++];
      continue;
    }
    const { codePoint, length } = escapeAt(source, at, body, index + 1);
    text += String.fromCodePoint(codePoint);
    index += 1 + length;
  }
  return text;
}

/** The bytes of a literal: a numeric escape is one byte, everything else is encoded as UTF-8. */
function bytesOf(source: string, at: number, body: string, isRaw: boolean): Uint8Array {
  if (isRaw) return new TextEncoder().encode(body);
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const part of body.split(/(\\(?:[xX][0-9a-fA-F]{2}|[0-3][0-7]{2}|[\s\S]))/)) {
    const numeric = /^\\(?:[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2}))$/.exec(part);
    if (numeric === null) bytes.push(...encoder.encode(unescaped(source, at, part)));
    else bytes.push(numeric[1] === undefined ? Number.parseInt(numeric[2]!, 8) : Number.parseInt(numeric[1], 16));
  }
  return Uint8Array.from(bytes);
}

function escapeAt(source: string, at: number, body: string, index: number): { codePoint: number; length: number } {
  const simple = SIMPLE[body[index] ?? ''];
  if (simple !== undefined) return { codePoint: simple.codePointAt(0)!, length: 1 };
  const match = NUMERIC.exec(body.slice(index, index + 9));
  const hex = match?.[1] ?? match?.[2] ?? match?.[3];
  const codePoint = hex === undefined ? Number.parseInt(match?.[4] ?? '', 8) : Number.parseInt(hex, 16);
  const isCharacter = codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  if (match === null || !isCharacter) {
    throw new CelCompileError(source, [{ at, message: 'Syntax error: invalid escape sequence in a string' }]);
  }
  return { codePoint, length: match[0].length };
}
