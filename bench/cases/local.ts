import type { BenchCase } from '../bench-case.js';
import { hold, type RatioBar } from '../contest.js';
import { type Contestant, CPU, DIRECT, HAPROXY, probe } from '../contestants/contestant.js';
import { startHaproxy } from '../contestants/haproxy.js';
import { startNginx } from '../contestants/nginx.js';
import { JOB, startPair } from '../contestants/pair.js';
import {
  ADDED_LATENCY,
  HTTP1_CPU,
  HTTP1_THROUGHPUT,
  LATENCY,
  MeasuredLoad,
  THROUGHPUT,
} from '../load/measured-load.js';

const CASE = 'local';

export const local: BenchCase = {
  name: CASE,
  text: 'GET of a Job through the proxy before the server that has it: direct, nginx, HAProxy, Straddle',
  async run(context) {
    const pair = await startPair(context);
    const { pki } = pair.plane;
    const contestants = [
      pair.direct,
      await startNginx(context.dir, pki, pair.direct.url),
      await startHaproxy(context.dir, pki, pair.direct.url),
      pair.local,
    ];
    const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
    for (const each of contestants) await probe(each, pair.caller, JOB, { text: '"name":"one"' });
    const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
    const load = new MeasuredLoad(pair.caller);
    const named = (name: string): Contestant => contestants.find((each) => each.name === name)!;
    const contest = { case: CASE, contestants: contestants.map(({ name }) => name) };
    const results = [
      await hold(
        {
          ...contest,
          metrics: { [THROUGHPUT]: '1/s', [CPU]: 'µs' },
          bars: bars(pair.local.name),
          measure: (name) => load.throughput(named(name), asked),
        },
        context,
      ),
      await hold(
        {
          ...contest,
          metrics: { [LATENCY]: 'ms', [ADDED_LATENCY]: 'ms' },
          measure: (name) => load.addedLatency(named(name), pair.direct, asked),
        },
        context,
      ),
      await hold(
        {
          ...contest,
          metrics: { [HTTP1_THROUGHPUT]: '1/s', [HTTP1_CPU]: 'µs' },
          measure: (name) => load.http1Throughput(named(name), asked),
        },
        context,
      ),
    ];
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: results.flatMap((each) => each.bars) };
  },
};

function bars(straddle: string): RatioBar[] {
  const against = (name: string, bar: number): RatioBar => ({
    name: `local: throughput, at least ${bar} × ${name}`,
    bar,
    side: 'at least',
    ratio: (of) => of(straddle, THROUGHPUT) / of(name, THROUGHPUT),
  });
  return [against(DIRECT, 0.75), against(HAPROXY, 1)];
}
