import { printableLine } from '../../../base/printable.js';
import { type Colors, inTone, NO_COLORS, type Tone } from '../../../base/terminal-colors.js';
import { notesText, PLAIN_LOOK, type TextLook } from '../text-look.js';
import type { GateReason } from './gate-reason.js';
import type { GateReport } from './gate-report.js';

const TONES: Readonly<Record<GateReport['verdict'] | GateReason['verdict'], Tone>> = {
  open: 'good',
  closed: 'harm',
  unknown: 'doubt',
  allowed: 'quiet',
};

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
  return reasons.map((reason) => reasonText(reason, look.colors)).join('') + notesText(notes, look);
}

function reasonText({ id, verdict, detail, next }: GateReason, colors: Colors): string {
  const kind = { closed: '', unknown: 'not known, ', allowed: 'allowed, ' }[verdict];
  const step = verdict === 'allowed' ? '' : `    \u2192 ${printableLine(next)}\n`;
  return `  ${inTone(TONES[verdict], `${kind}${id}`, colors)}: ${printableLine(detail)}\n${step}`;
}
