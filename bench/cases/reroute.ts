import type { BenchCase } from '../bench-case.js';
import { hold, type RatioBar } from '../contest.js';
import { CPU, NATIVE, probe } from '../contestants/contestant.js';
import { startNginx } from '../contestants/nginx.js';
import { JOB, startPair } from '../contestants/pair.js';
import { LATENCY, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';

const CASE = 'reroute';

export const reroute: BenchCase = {
  name: CASE,
  text: 'GET of a Job that only the peer serves: direct, nginx, native mixed version proxy, Straddle',
  async run(context) {
    const pair = await startPair(context);
    const nginx = await startNginx(context.dir, pair.plane.pki, pair.direct.url);
    const contestants = [pair.direct, nginx, pair.native, pair.reroute];
    const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
    for (const each of contestants) await probe(each, pair.caller, JOB, { text: '"name":"one"' });
    const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
    const load = new MeasuredLoad(pair.caller);
    const result = await hold(
      {
        case: CASE,
        contestants: contestants.map(({ name }) => name),
        metrics: { [THROUGHPUT]: '1/s', [LATENCY]: 'ms', [CPU]: 'µs' },
        bars: bars(pair.reroute.name, pair.direct.name),
        measure: (name) => load.both(contestants.find((each) => each.name === name)!, asked),
      },
      context,
    );
    await pair.stop();
    return result;
  },
};

function bars(straddle: string, direct: string): RatioBar[] {
  return [
    {
      name: 'reroute: throughput, at least 1.7 × the native hop',
      bar: 1.7,
      side: 'at least',
      ratio: (of) => of(straddle, THROUGHPUT) / of(NATIVE, THROUGHPUT),
    },
    {
      name: "reroute: added mean latency, at most 0.35 × the native hop's",
      bar: 0.35,
      side: 'at most',
      ratio: (of) => (of(straddle, LATENCY) - of(direct, LATENCY)) / (of(NATIVE, LATENCY) - of(direct, LATENCY)),
    },
  ];
}
