import { type HalfResult, harmOf, type RehearsalResult } from '../rehearsal-result.js';
import { plural } from './words.js';

/** Also in `-o json`, as `verdict`. */
export interface ReportVerdict {
  /** `good`: no harm with the proxy on; `harm`: harm with it; `open`: it was not rehearsed with the proxy. */
  readonly tone: 'good' | 'harm' | 'open';
  readonly headline: string;
  readonly sentence: string;
}

/** Returns the verdict of the report, from figures of the result only. */
export function verdictOf({ from, to, halves }: RehearsalResult): ReportVerdict {
  const off = halves.find(({ proxy }) => !proxy);
  const on = halves.find(({ proxy }) => proxy);
  if (on === undefined) return off === undefined ? NOTHING_SEEN : withoutOnly(off);
  if (isHarmful(on)) {
    return {
      tone: 'harm',
      headline: 'There is harm with the proxy on',
      sentence: `With the proxy on clients still met ${harmText(on)}. Find out why before the upgrade: the examples say where to look.`,
    };
  }
  if (off === undefined) {
    return {
      tone: 'good',
      headline: 'No harm with the proxy on',
      sentence: `${asked(on)} No wrong 404, nothing deleted by mistake, no namespace ended too early or stuck, no flap.`,
    };
  }
  if (isHarmful(off)) {
    return {
      tone: 'good',
      headline: 'The proxy takes the harm out of this upgrade',
      sentence: `With the proxy off clients met ${harmText(off)}. With it on: none of it, in ${plural(on.findings.requests, 'request')}.`,
    };
  }
  return {
    tone: 'good',
    headline: 'No harm was seen in either half',
    sentence: `Nothing that the clients asked for is missing in ${from === to ? to : `${from} or ${to}`}, or it was not asked for at the wrong server.`,
  };
}

/** Returns whether clients met harm. A failed run of the user's program counts too. */
export function isHarmful(half: HalfResult): boolean {
  return harmOf(half) > 0 || failedRuns(half) > 0;
}

const NOTHING_SEEN: ReportVerdict = {
  tone: 'open',
  headline: 'Nothing was seen to the end',
  sentence: 'The rehearsal was stopped before its first half was over.',
};

function withoutOnly(off: HalfResult): ReportVerdict {
  const tail = 'What the proxy does about it was not rehearsed.';
  return isHarmful(off)
    ? {
        tone: 'open',
        headline: 'Without the proxy this upgrade does harm',
        sentence: `With the proxy off clients met ${harmText(off)}. ${tail}`,
      }
    : { tone: 'open', headline: 'No harm was seen with the proxy off', sentence: `${asked(off)} ${tail}` };
}

function asked({ findings }: HalfResult): string {
  return `${plural(findings.requests, 'request was', 'requests were')} made.`;
}

function harmText(half: HalfResult): string {
  const { findings } = half;
  const parts = [
    counted(findings.wrong404s, 'wrong 404'),
    counted(findings.collectedByMistake.bad, 'object deleted by mistake', 'objects deleted by mistake'),
    counted(findings.namespacesEndedEarly.bad, 'namespace ended too early', 'namespaces ended too early'),
    counted(findings.namespacesStuck.bad, 'stuck namespace'),
    counted(findings.discoveryFlaps, 'discovery flap'),
    counted(failedRuns(half), 'failed run of the own program', 'failed runs of the own program'),
  ].flat();
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function counted(count: number, one: string, many?: string): string[] {
  return count === 0 ? [] : [plural(count, one, many)];
}

function failedRuns({ exec }: HalfResult): number {
  return exec.filter(({ exitCode }) => exitCode !== 0).length;
}
