import type { BenchCase } from '../bench-case.js';
import { hold, type RatioBar } from '../contest.js';
import { type Contestant, CPU, NATIVE, probe, STRADDLE } from '../contestants/contestant.js';
import { startNginx } from '../contestants/nginx.js';
import { JOB, startPair } from '../contestants/pair.js';
import { startSecondStraddle } from '../contestants/second-straddle.js';
import { ADDED_LATENCY, LATENCY, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';

const CASE = 'reroute';
/** As to a peer whose kube-apiserver listens on loopback. CPU is that of the near Straddle, as for the other reroute. */
const FAR_SIDE = `${STRADDLE}, reroute by way of the peer's`;

export const reroute: BenchCase = {
  name: CASE,
  text: "GET of a Job that only the peer serves: direct, nginx, native mixed version proxy, Straddle, also by way of the peer's Straddle",
  async run(context) {
    const pair = await startPair(context);
    const second = await startSecondStraddle(
      'reroute',
      { suffix: 'far', flags: { peer: pair.plane.b.straddle.url } },
      pair,
      context,
    );
    const farSide: Contestant = { name: FAR_SIDE, url: second.url, proxyPid: second.process!.pid };
    const nginx = await startNginx(context.dir, pair.plane.pki, pair.direct.url);
    const contestants = [pair.direct, nginx, pair.native, pair.reroute, farSide];
    const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
    for (const each of contestants) await probe(each, pair.caller, JOB, { text: '"name":"one"' });
    const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
    const load = new MeasuredLoad(pair.caller);
    const named = (name: string): Contestant => contestants.find((each) => each.name === name)!;
    const straddle = pair.reroute.name;
    const contest = { case: CASE, contestants: contestants.map(({ name }) => name) };
    const results = [
      await hold(
        {
          ...contest,
          metrics: { [THROUGHPUT]: '1/s', [CPU]: 'µs' },
          bars: [throughputBar(straddle)],
          measure: (name) => load.throughput(named(name), asked),
        },
        context,
      ),
      await hold(
        {
          ...contest,
          metrics: { [LATENCY]: 'ms', [ADDED_LATENCY]: 'ms' },
          bars: [latencyBar(straddle)],
          measure: (name) => load.addedLatency(named(name), pair.direct, asked),
        },
        context,
      ),
    ];
    await second.stop();
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: results.flatMap(({ bars }) => bars) };
  },
};

const throughputBar = (straddle: string): RatioBar => ({
  name: 'reroute: throughput, at least 1.7 × the native hop',
  bar: 1.7,
  side: 'at least',
  ratio: (of) => of(straddle, THROUGHPUT) / of(NATIVE, THROUGHPUT),
});

const latencyBar = (straddle: string): RatioBar => ({
  name: "reroute: added mean latency, at most 0.35 × the native hop's",
  bar: 0.35,
  side: 'at most',
  ratio: (of) => of(straddle, ADDED_LATENCY) / of(NATIVE, ADDED_LATENCY),
});
