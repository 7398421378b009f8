import type { Straddle } from '../../test/real/rig/straddle.js';
import type { BenchCase, BenchContext, CaseResult, Row } from '../bench-case.js';
import { type Contestant, STRADDLE } from '../contestants/contestant.js';
import { type Pair, startPair } from '../contestants/pair.js';
import { holdForJob } from '../contestants/same-job.js';
import { startSecondStraddle } from '../contestants/second-straddle.js';
import { familyOf, residentMb } from '../process-cost.js';
import { rowOf } from '../statistics.js';

const CASE = 'workers';
const MORE = 2;

export const workers: BenchCase = {
  name: CASE,
  text: 'GET of a Job, local and rerouted, with --workers=1 and --workers=2 side by side',
  async run(context) {
    const pair = await startPair(context);
    const second = { suffix: 'workers', flags: { workers: String(MORE) } };
    const several = {
      local: await startSecondStraddle('local', second, pair, context),
      reroute: await startSecondStraddle('reroute', second, pair, context),
    };
    const results: CaseResult[] = [];
    for (const way of ['local', 'reroute'] as const) {
      const contestants = [
        { ...pair[way], name: `${pair[way].name}, 1 worker` },
        contestant(several[way], `${STRADDLE}, ${way}, ${MORE} workers`),
      ];
      results.push(await measure(contestants, pair, context));
    }
    await Promise.all(Object.values(several).map((each) => each.stop()));
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: [] };
  },
};

async function measure(contestants: readonly Contestant[], pair: Pair, context: BenchContext): Promise<CaseResult> {
  // Each worker compiles its own code: several of them are warm only after as many times the requests.
  const { rows } = await holdForJob({ case: CASE, contestants, warmUps: MORE }, pair, context);
  return { rows: [...rows, ...contestants.map(memoryOf)], bars: [] };
}

/** Of all its processes, after the load. Pages that they share are counted in each. */
function memoryOf({ name, proxyPid }: Contestant): Row {
  const mb = familyOf(proxyPid!).reduce((sum, pid) => sum + residentMb(pid), 0);
  return rowOf({ case: CASE, contestant: name, metric: 'memory after the load', unit: 'MB' }, [mb]);
}

function contestant(straddle: Straddle, name: string): Contestant {
  return { name, url: straddle.url, proxyPid: straddle.process!.pid };
}
