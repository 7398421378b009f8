import { breakLines } from '../../base/break-lines.js';
import { printableLine } from '../../base/printable.js';
import { type Colors, inTone, NO_COLORS, type Tone } from '../../base/terminal-colors.js';

/** How a report for people is printed. */
export interface TextLook {
  readonly colors: Colors;
  /** Width of the screen, in characters; undefined for pipes and files, where a sentence is a line. */
  readonly width: number | undefined;
}

/** For pipes and files. */
export const PLAIN_LOOK: TextLook = { colors: NO_COLORS, width: undefined };

/** Before the first line, and before those that follow. */
const INDENT: readonly [string, string] = ['', '  '];

/** Returns a sentence in lines of the width, if there is one. A word that is too long is cut. */
export function sentenceText(
  sentence: string,
  { colors, width }: TextLook,
  tone: Tone = 'plain',
  [first, next] = INDENT,
): string {
  const line = printableLine(sentence);
  if (width === undefined) return `${first}${inTone(tone, line, colors)}\n`;
  const length = width - Math.max(first.length, next.length);
  const words = line.split(' ').flatMap((word) => pieces(word, length));
  return breakLines(words, length)
    .map((text, index) => `${index === 0 ? first : next}${inTone(tone, text, colors)}\n`)
    .join('');
}

function pieces(word: string, length: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < word.length; at += length) found.push(word.slice(at, at + length));
  return found;
}

/** Returns notes, one below the other, in lines of the width. */
export function notesText(notes: readonly string[], look: TextLook): string {
  return notes.map((note) => sentenceText(`Note: ${note}.`, look, 'quiet')).join('');
}
