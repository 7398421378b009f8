import type { Tone } from '../../base/terminal-colors.js';
import type { CheckReport } from './check-report.js';
import type { CheckLine } from './checks/check-line.js';
import { type Cell, heads, tableRows } from './columns.js';
import { notesText, PLAIN_LOOK, sentenceText, type TextLook } from './text-look.js';

const TONES: Readonly<Record<CheckLine['verdict'], Tone>> = {
  ok: 'good',
  warn: 'doubt',
  unknown: 'doubt',
  FAIL: 'harm',
};

const MEND_INDENT = ['          \u2192 ', '            '] as const;

export function checkText(report: CheckReport, wide: boolean, look: TextLook = PLAIN_LOOK): string {
  const { checks, verdict, notes } = report;
  const count = (wanted: CheckLine['verdict']) => checks.filter((each) => each.verdict === wanted).length;
  const doubt = verdict === 'unknown' ? ', so whether the protection is on is not known' : '';
  const summary = `${count('ok')} ok, ${count('warn')} warnings, ${count('FAIL')} failed, ${count('unknown')} unknown${doubt}.`;
  return `${tableText(report, wide, look)}\n${sentenceText(summary, look, 'head')}${notesText(notes, look)}`;
}

/** Returns the text of a report without the checks that are ok, of `all` that were made. */
export function problemsText(all: number): typeof checkText {
  return (report, wide, look = PLAIN_LOOK) => {
    const { checks, notes } = report;
    const isClean = checks.length === 0;
    const summary = isClean ? `no problems: ${all} checks ok` : `${checks.length} of ${all} checks are not ok.`;
    const table = isClean ? '' : `${tableText(report, wide, look)}\n`;
    return `${table}${sentenceText(summary, look, isClean ? 'good' : 'head')}${notesText(notes, look)}`;
  };
}

export function isProblem({ verdict }: CheckLine): boolean {
  return verdict !== 'ok';
}

function tableText({ checks }: CheckReport, wide: boolean, look: TextLook): string {
  const addressed = checks.filter(({ address }) => address !== null);
  const several = new Set(addressed.map(({ server, address }) => `${server} ${address}`)).size;
  const servers = new Set(addressed.map(({ server }) => server)).size;
  const withAddress = wide || several > servers;
  const rows = checks.map((each): Cell[] => [
    { text: each.verdict, tone: TONES[each.verdict] },
    each.server,
    ...(withAddress ? [each.address ?? '-'] : []),
    each.check,
    each.detail,
  ]);
  const first = heads(['', 'SERVER', ...(withAddress ? ['ADDRESS'] : []), 'CHECK', 'FOUND']);
  const [head, ...body] = tableRows([first, ...rows], look);
  // The next step is printed below its line: it does not fit into a column.
  const lines = body.map((row, index) => {
    const mend = checks[index]?.mend;
    return mend ? `${row}\n${sentenceText(mend, look, 'plain', MEND_INDENT)}` : `${row}\n`;
  });
  return `${head}\n${lines.join('')}`;
}
