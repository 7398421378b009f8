/** Characters with a named escape in Go's source code. */
export const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Characters that Go escapes: control, format, unassigned and private ones, and all spaces but the plain one. */
const UNPRINTABLE = /["\\]|[\p{C}\p{Z}]/gu;

/** A text as Go prints it with `%q`, which kube-apiserver's messages use for names. */
export function goQuote(text: string): string {
  const escaped = text.replace(UNPRINTABLE, (character) => {
    if (character === ' ') return character;
    const named = NAMED_ESCAPES[character];
    if (named !== undefined) return named;
    const code = character.codePointAt(0)!;
    if (code < 0x80) return `\\x${hex(code, 2)}`;
    // A lone surrogate cannot come from Go's strings, which replace it.
    if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
  return `"${escaped}"`;
}

/** A list of texts with `%q`. */
export function goQuoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(' ')}]`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
