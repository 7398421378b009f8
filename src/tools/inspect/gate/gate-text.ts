import { printableLine } from '../../../base/printable.js';
import { notesText } from '../columns.js';
import type { GateReason } from './gate-reason.js';
import type { GateReport } from './gate-report.js';

/**
 * The line for scripts: `open`, `closed: unprotected, sole-server`, `unknown: servers`, each with ` (allowed: …)` where reasons
 * were accepted.
 */
export function gateLine({ verdict, reasons }: GateReport): string {
  const ids = (wanted: GateReason['verdict']) => [
    ...new Set(reasons.filter((each) => each.verdict === wanted).map(({ id }) => id)),
  ];
  const why = verdict === 'open' ? '' : `: ${ids(verdict).join(', ')}`;
  const allowed = ids('allowed');
  return `${verdict}${why}${allowed.length > 0 ? ` (allowed: ${allowed.join(', ')})` : ''}\n`;
}

/** The reasons for people, indented, each with the next step below it. */
export function gateDetails({ reasons, notes }: GateReport): string {
  return reasons.map(reasonText).join('') + notesText(notes.map(printableLine));
}

function reasonText({ id, verdict, detail, next }: GateReason): string {
  const kind = { closed: '', unknown: 'not known, ', allowed: 'allowed, ' }[verdict];
  const step = verdict === 'allowed' ? '' : `    \u2192 ${printableLine(next)}\n`;
  return `  ${kind}${id}: ${printableLine(detail)}\n${step}`;
}
