import { type Colors, inTone, NO_COLORS, type Tone } from '../../../base/terminal-colors.js';
import { notesText, PLAIN_LOOK, sentenceText, type TextLook } from '../text-look.js';
import type { GateReason } from './gate-reason.js';
import type { GateReport } from './gate-report.js';

const TONES: Readonly<Record<GateReport['verdict'] | GateReason['verdict'], Tone>> = {
  open: 'good',
  closed: 'harm',
  unknown: 'doubt',
  allowed: 'quiet',
};

const REASON_INDENT = ['  ', '    '] as const;
const NEXT_INDENT = ['    \u2192 ', '      '] as const;

/**
 * The line for scripts: `open`, `closed: unprotected, sole-server`, `unknown: servers`, each with ` (allowed: …)` where reasons
 * were accepted.
 */
export function gateLine({ verdict, reasons }: GateReport, colors: Colors = NO_COLORS): string {
  const ids = (wanted: GateReason['verdict']) => [
    ...new Set(reasons.filter((each) => each.verdict === wanted).map(({ id }) => id)),
  ];
  const why = verdict === 'open' ? '' : `: ${ids(verdict).join(', ')}`;
  const allowed = ids('allowed');
  return `${inTone(TONES[verdict], verdict, colors)}${why}${allowed.length > 0 ? ` (allowed: ${allowed.join(', ')})` : ''}\n`;
}

/** The reasons for people, indented, each with the next step below it. */
export function gateDetails({ reasons, notes }: GateReport, look: TextLook = PLAIN_LOOK): string {
  return reasons.map((reason) => reasonText(reason, look)).join('') + notesText(notes, look);
}

function reasonText({ id, verdict, detail, next }: GateReason, look: TextLook): string {
  const kind = { closed: '', unknown: 'not known, ', allowed: 'allowed, ' }[verdict];
  const step = verdict === 'allowed' ? '' : sentenceText(next, look, 'plain', NEXT_INDENT);
  // Colored last: color sequences have no width.
  const plain = sentenceText(`${kind}${id}: ${detail}`, { ...look, colors: NO_COLORS }, 'plain', REASON_INDENT);
  return plain.replace(`${kind}${id}`, (name) => inTone(TONES[verdict], name, look.colors)) + step;
}
