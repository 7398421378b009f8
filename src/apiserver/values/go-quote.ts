/** Names in Go's source code for control characters that have one. */
const NAMED_ESCAPES: Readonly<Record<string, string>> = {
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

/** What Go does not print as it is: controls, formats, unassigned, private, and every space but the plain one. */
const UNPRINTABLE = /["\\]|[\p{C}\p{Z}]/gu;

/** A text as Go prints it with `%q`; messages of kube-apiserver hold names in this form. */
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
