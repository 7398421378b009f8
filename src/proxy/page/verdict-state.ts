import { compareServerVersions } from '../../kube/kube-version.js';
import { isProtected, type PageFacts } from './page-facts.js';
import type { FlowCounts, Reason, Skew, Verdict } from './page-state.js';
import { versionOf } from './server-facts.js';
import { type JudgedReason, verdictReasons } from './verdict-reasons.js';

const REASONS_MAX = 50;

/** Always the last reason: what this page cannot judge. */
const FULL_GATE: Reason = {
  id: 'gate',
  text: 'this page judges by what one Straddle knows; the gate asks every server, its storage and its certificates',
  remedy: 'straddle gate',
  isCommand: true,
};

/** Returns whether the next server may be replaced, as this process knows it. */
export function verdictState(facts: PageFacts, skew: Skew, totals: FlowCounts): Verdict {
  const judged = verdictReasons(facts, skew);
  const closed = judged.filter(({ verdict }) => verdict === 'closed');
  const may = closed.length > 0 ? 'no' : judged.length > 0 ? 'unknown' : 'yes';
  const parts = [versionsText(facts), protectedText(facts), preventedText(totals)];
  return {
    may,
    sentence: `${parts.filter((part) => part !== '').join(', ')}; ${outcome(may, closed, judged)}`,
    reasons: [...closed, ...judged.filter(({ verdict }) => verdict === 'unknown')]
      .slice(0, REASONS_MAX)
      .map(({ id, text, remedy, isCommand }): Reason => ({ id, text, remedy, isCommand }))
      .concat(FULL_GATE),
  };
}

function outcome(may: Verdict['may'], closed: readonly JudgedReason[], judged: readonly JudgedReason[]): string {
  if (may === 'yes') return 'the next server may be replaced';
  const [first, ...others] = may === 'no' ? closed : judged;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${may === 'no' ? 'not now' : 'not known'}: ${first!.short ?? first!.text}${more}`;
}

/** Returns `2 of 3 servers on 1.37`. */
function versionsText({ servers }: PageFacts): string {
  const present = servers.filter(({ state }) => state !== 'gone');
  const versions = present.flatMap(({ surface }) => versionOf(surface) ?? []);
  const [newest] = [...versions].sort(compareServerVersions);
  const count = (n: number) => (n === 1 ? '1 server' : `${n} servers`);
  if (newest === undefined) return `${count(present.length)}, none of them read yet`;
  const on = versions.filter((version) => minorOf(version) === minorOf(newest)).length;
  if (on === present.length) return `${on === 1 ? '1 server' : `all ${on} servers`} on ${minorOf(newest)}`;
  return `${on} of ${count(present.length)} on ${minorOf(newest)}`;
}

function minorOf(version: string): string {
  return /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
}

function protectedText(facts: PageFacts): string {
  const ready = facts.servers.filter(({ state }) => state === 'ready');
  const count = ready.filter((server) => isProtected(server, facts) === true).length;
  if (ready.length === 0) return '';
  if (count === ready.length) return count === 1 ? 'protected' : 'all protected';
  return `${count} of ${ready.length} known to be protected`;
}

function preventedText({ prevented404 }: FlowCounts): string {
  return `${prevented404} wrong ${prevented404 === 1 ? '404' : '404s'} prevented here`;
}
