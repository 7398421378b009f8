import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, keepAliveAgent } from '../../test/real/rig/http-client.js';
import type { BenchCase, BenchContext, CaseResult } from '../bench-case.js';
import { type Figures, hold } from '../contest.js';
import { type Contestant, CPU, probe } from '../contestants/contestant.js';
import { startNginx } from '../contestants/nginx.js';
import { JOBS, job, type Pair, startPair } from '../contestants/pair.js';
import { type Asked, type LoadShape, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';
import { forgetPeak, peakMb } from '../process-cost.js';

const CASE = 'bodies';
/** With what the server adds, a list of about 2 MB. */
const LISTED = 1_100;
const AT_ONCE = 16;
const LIST_SHAPE = { connections: 4, streams: 1, seconds: 2 };
const POST_SHAPE = { connections: 8, streams: 4, seconds: 1.5 };
/** Answers to what was posted differ by a digit or two of a version. */
const POSTED_TOLERANCE = 0.02;
const PEAK = 'peak memory of the proxy';

export const bodies: BenchCase = {
  name: CASE,
  text: 'POST of 1 kB and of 100 kB, LIST of 2 MB, rerouted: direct, nginx, native mixed version proxy, Straddle',
  async run(context) {
    const pair = await startPair(context);
    const nginx = await startNginx(context.dir, pair.plane.pki, pair.direct.url);
    const contestants = [pair.direct, nginx, pair.native, pair.reroute];
    const load = new MeasuredLoad(pair.caller);
    const results = [
      await measure('POST 1 kB', contestants, await posted(pair, context, 500), POST_SHAPE, load, context),
      await measure('POST 100 kB', contestants, await posted(pair, context, 100_000), POST_SHAPE, load, context),
      await measure('LIST 2 MB', contestants, await listed(pair), LIST_SHAPE, load, context),
    ];
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: [] };
  },
};

async function measure(
  what: string,
  contestants: readonly Contestant[],
  asked: Asked,
  shape: LoadShape,
  load: MeasuredLoad,
  context: BenchContext,
): Promise<CaseResult> {
  const named = (figures: Figures): Figures =>
    Object.fromEntries(Object.entries(figures).map(([metric, figure]) => [`${what}: ${metric}`, figure]));
  return hold(
    {
      case: CASE,
      contestants: contestants.map(({ name }) => name),
      metrics: { [`${what}: ${THROUGHPUT}`]: '1/s', [`${what}: ${CPU}`]: 'µs', [`${what}: ${PEAK}`]: 'MB' },
      async measure(name) {
        const contestant = contestants.find((each) => each.name === name)!;
        const { proxyPid } = contestant;
        if (proxyPid === undefined) return named(await load.throughput(contestant, asked, shape));
        forgetPeak(proxyPid);
        const figures = await load.throughput(contestant, asked, shape);
        return named({ ...figures, [PEAK]: peakMb(proxyPid) });
      },
    },
    context,
  );
}

/** Posted as a dry run: the server does all but store it, so the last round meets the same server as the first. */
async function posted({ direct, caller }: Pair, { dir }: BenchContext, bytes: number): Promise<Asked> {
  const path = `${JOBS}?dryRun=All`;
  const body = job('', { name: undefined, generateName: 'posted-', annotations: { note: 'x'.repeat(bytes) } });
  const bodyFile = join(dir, `post-${bytes}.json`);
  writeFileSync(bodyFile, JSON.stringify(body));
  const answer = await call({ url: direct.url, ...caller }, path, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  const size = answer.body.length;
  return {
    path,
    headers: { 'content-type': 'application/json' },
    bodyFile,
    expected: { status: 201, bytesMin: size * (1 - POSTED_TOLERANCE), bytesMax: size * (1 + POSTED_TOLERANCE) },
  };
}

async function listed({ direct, caller }: Pair): Promise<Asked> {
  const agent = keepAliveAgent(AT_ONCE);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < LISTED) {
      const body = job(`listed-${next++}`);
      const { status, text } = await call({ url: direct.url, ...caller }, JOBS, { method: 'POST', body, agent });
      if (status !== 201) throw new Error(`POST ${JOBS}: ${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
  const { bytes } = await probe(direct, caller, JOBS, { text: `"name":"listed-${LISTED - 1}"` });
  // A list says at which revision it was made: one digit more or less.
  return { path: JOBS, headers: {}, expected: { status: 200, bytesMin: bytes - 4, bytesMax: bytes + 4 } };
}
