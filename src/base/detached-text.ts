/**
 * Returns a copy of a text. A part of a string keeps the whole string in memory, and what is kept of a request for long must not
 * keep its head.
 */
export function detachedText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
