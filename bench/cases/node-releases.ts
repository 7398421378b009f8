import { NODE_RELEASES, nodeProgram } from '../../scripts/node-release.js';
import type { BenchCase, CaseResult } from '../bench-case.js';
import { STRADDLE } from '../contestants/contestant.js';
import { startPair } from '../contestants/pair.js';
import { holdForJob } from '../contestants/same-job.js';
import { startSecondStraddle } from '../contestants/second-straddle.js';

const CASE = 'node-releases';
const NEWEST = [...NODE_RELEASES.keys()].at(-1)!;

/** No bar: the figures show whether the newest release is worth an update. */
export const nodeReleases: BenchCase = {
  name: CASE,
  text: `GET of a Job, local and rerouted, through Straddles run by Node.js ${process.versions.node} and by ${NODE_RELEASES.get(NEWEST)}`,
  async run(context) {
    const pair = await startPair(context);
    const second = { suffix: 'newest', nodeProgram: nodeProgram(NEWEST, context.say) };
    const results: CaseResult[] = [];
    for (const side of ['local', 'reroute'] as const) {
      const newest = await startSecondStraddle(side, second, pair, context);
      const contestants = [
        { ...pair[side], name: `${pair[side].name}, Node.js ${process.versions.node}` },
        {
          name: `${STRADDLE}, ${side}, Node.js ${NODE_RELEASES.get(NEWEST)}`,
          url: newest.url,
          proxyPid: newest.process!.pid,
        },
      ];
      results.push(await holdForJob({ case: CASE, contestants, warmUps: 1 }, pair, context));
      await newest.stop();
    }
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: [] };
  },
};
