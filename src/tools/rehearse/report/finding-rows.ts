import type { Count, HalfFindings, HalfResult, Latency, RehearsalResult } from '../rehearsal-result.js';
import { countOfText, countText, millisecondsText } from './words.js';

/** The meaning of a figure, shown by a mark and not by colour alone. */
export type Standing = 'harm' | 'notice' | 'clean' | 'figure';

export interface FindingCell {
  readonly text: string;
  readonly standing: Standing;
  /** `+0.4 / +2.1 ms`: against the half with the proxy off. */
  readonly added: string | undefined;
}

export interface FindingRow {
  readonly title: string;
  readonly meaning: string;
  /** One for each half, in the same order. */
  readonly cells: readonly FindingCell[];
}

interface Measure {
  readonly title: string;
  readonly meaning: string;
  readonly weight: 'harm' | 'notice';
  readonly of: (findings: HalfFindings) => number | Count;
}

const MEASURES: readonly Measure[] = [
  {
    title: 'Wrong 404s',
    meaning: '“Not found” for what exists and another server of the control plane serves. Clients act on it.',
    weight: 'harm',
    of: ({ wrong404s }) => wrong404s,
  },
  {
    title: 'Objects deleted by mistake',
    meaning: 'Their owner exists, but a garbage collector was told 404 and took it for gone.',
    weight: 'harm',
    of: ({ collectedByMistake }) => collectedByMistake,
  },
  {
    title: 'Namespaces ended too early',
    meaning:
      'Reported as deleted while objects of theirs stayed in the store, to reappear with the next one of that name.',
    weight: 'harm',
    of: ({ namespacesEndedEarly }) => namespacesEndedEarly,
  },
  {
    title: 'Namespaces stuck',
    meaning: 'Still being deleted when this half was over.',
    weight: 'harm',
    of: ({ namespacesStuck }) => namespacesStuck,
  },
  {
    title: 'Discovery flaps',
    meaning: 'A client’s next look at discovery lacked, or had again, what had not changed.',
    weight: 'harm',
    of: ({ discoveryFlaps }) => discoveryFlaps,
  },
  {
    title: 'Objects not collected',
    meaning: 'Their only owner was deleted, and they are still there. Slow, but nothing is lost.',
    weight: 'notice',
    of: ({ notCollected }) => notCollected,
  },
  {
    title: '503s',
    meaning: '“Come back later”. Clients wait and try again; nothing is concluded from it.',
    weight: 'notice',
    of: ({ unavailable503s }) => unavailable503s,
  },
  {
    title: 'Broken watches',
    meaning: 'Ended, or lost events, although what they watch is served. Informers start over after that.',
    weight: 'notice',
    of: ({ brokenWatches }) => brokenWatches,
  },
  {
    title: 'Other errors',
    meaning: 'Cut connections and other answers of 500 and above, such as while a server is replaced.',
    weight: 'notice',
    of: ({ otherErrors }) => otherErrors,
  },
];

const LATENCIES: readonly {
  readonly title: string;
  readonly meaning: string;
  readonly of: (findings: HalfFindings) => Latency;
}[] = [
  {
    title: 'Latency, all requests',
    meaning: 'Median and 99th percentile of those that were answered well.',
    of: ({ latency }) => latency,
  },
  {
    title: '… of what all servers serve',
    meaning: 'Answered where they arrive: what the proxy costs everybody.',
    of: ({ latencyOfCommon }) => latencyOfCommon,
  },
  {
    title: '… of what only some serve',
    meaning: 'With the proxy on they are carried to a server that has it; with it off these are the lucky ones.',
    of: ({ latencyOfSkewed }) => latencyOfSkewed,
  },
];

/** Returns the table of findings of both reports, a row for each measure. */
export function findingRows({ halves }: RehearsalResult): FindingRow[] {
  const counted = MEASURES.map(({ title, meaning, weight, of }) => ({
    title,
    meaning,
    cells: halves.map(({ findings }) => countCell(of(findings), weight)),
  }));
  const timed = LATENCIES.map(({ title, meaning, of }) => ({ title, meaning, cells: latencyCells(halves, of) }));
  return [requestsRow(halves), ...counted, leftRow(halves), ...execRow(halves), ...timed];
}

/** A count of nothing observed is a figure, not clean. */
function countCell(found: number | Count, weight: 'harm' | 'notice'): FindingCell {
  if (typeof found === 'number') {
    return { text: countText(found), standing: found > 0 ? weight : 'clean', added: undefined };
  }
  const standing = found.bad > 0 ? weight : found.of > 0 ? 'clean' : 'figure';
  return { text: countOfText(found), standing, added: undefined };
}

function requestsRow(halves: readonly HalfResult[]): FindingRow {
  return {
    title: 'Requests',
    meaning: 'What the load clients asked for at the front door.',
    cells: halves.map(({ findings }) => ({ text: countText(findings.requests), standing: 'figure', added: undefined })),
  };
}

/** Objects that no proxy can save: they were written before the rollback. */
function leftRow(halves: readonly HalfResult[]): FindingRow {
  return {
    title: 'Left behind by the rollback',
    meaning: 'Objects in the store that no server serves any more. Delete such objects before a rollback.',
    cells: halves.map(({ leftInStore }) => countCell(leftInStore, 'notice')),
  };
}

function execRow(halves: readonly HalfResult[]): FindingRow[] {
  if (halves.every(({ exec }) => exec.length === 0)) return [];
  return [
    {
      title: 'Own program failed',
      meaning: 'Runs of --exec that ended with an exit code other than 0.',
      cells: halves.map(({ exec }) => {
        const bad = exec.filter(({ exitCode }) => exitCode !== 0).length;
        return countCell({ bad, of: exec.length }, 'harm');
      }),
    },
  ];
}

function latencyCells(halves: readonly HalfResult[], of: (findings: HalfFindings) => Latency): FindingCell[] {
  const off = halves.find(({ proxy }) => !proxy);
  return halves.map(({ proxy, findings }) => {
    const latency = of(findings);
    return {
      text: `${millisecondsText(latency.p50Ms)} / ${millisecondsText(latency.p99Ms)} ms`,
      standing: 'figure',
      added: proxy && off !== undefined ? addedText(latency, of(off.findings)) : undefined,
    };
  });
}

function addedText(latency: Latency, before: Latency): string | undefined {
  const [p50, p99] = [latency.p50Ms - before.p50Ms, latency.p99Ms - before.p99Ms];
  return Number.isFinite(p50) && Number.isFinite(p99) ? `${signed(p50)} / ${signed(p99)} ms` : undefined;
}

function signed(ms: number): string {
  if (Math.abs(ms) < 0.005) return '±0';
  return `${ms < 0 ? '−' : '+'}${millisecondsText(Math.abs(ms))}`;
}
