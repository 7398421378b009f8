/** Replaces terminal sequences and bidirectional controls in text of servers and programs. */
export function printable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)/g, '')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** The same as one line, with single spaces. */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}
