import type { BenchContext, CaseResult } from '../bench-case.js';
import { hold } from '../contest.js';
import { LATENCY, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';
import { type Contestant, CPU, probe } from './contestant.js';
import { JOB, type Pair } from './pair.js';

/** Measures GETs of one Job through each of several Straddles. */
export async function holdForJob(
  { case: name, contestants, warmUps }: JobContest,
  pair: Pair,
  context: BenchContext,
): Promise<CaseResult> {
  const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
  for (const each of contestants) await probe(each, pair.caller, JOB, { text: '"name":"one"' });
  const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
  const load = new MeasuredLoad(pair.caller);
  for (let i = 0; i < warmUps; i++) for (const each of contestants) await load.throughput(each, asked);
  return hold(
    {
      case: name,
      contestants: contestants.map((each) => each.name),
      metrics: { [THROUGHPUT]: '1/s', [LATENCY]: 'ms', [CPU]: 'µs' },
      measure: (wanted) => load.both(contestants.find((each) => each.name === wanted)!, asked),
    },
    context,
  );
}

export interface JobContest {
  readonly case: string;
  readonly contestants: readonly Contestant[];
  /** Rounds before the first one that `hold` leaves out. */
  readonly warmUps: number;
}
