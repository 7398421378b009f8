/** The place of the quote that ends the string which begins at `quote`; -1 where none does. */
export function jsonStringEnd(text: string, quote: number): number {
  let end = text.indexOf('"', quote + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/**
 * Whether a JSON text has more than `valuesMax` members of objects and items of lists. Counts commas, and brackets that open
 * something that is not empty. The text need not be valid.
 */
export function hasMoreValues(text: string, valuesMax: number): boolean {
  // No value takes less than one character and a comma.
  if (text.length <= 2 * valuesMax) return false;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === BRACKET || code === BRACE) {
      // A closing bracket comes two after its opening one in ASCII.
      if (code !== COMMA && text.charCodeAt(at + 1) === code + 2) continue;
      if (++count > valuesMax) return true;
    } else if (code === QUOTE) {
      at = jsonStringEnd(text, at);
      if (at < 0) return false;
    }
  }
  return false;
}

const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
