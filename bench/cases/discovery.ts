import { gunzipSync } from 'node:zlib';
import { call } from '../../test/real/rig/http-client.js';
import { AGGREGATED_V2 } from '../../test/real/rig/plane.js';
import type { BenchCase, BenchContext, CaseResult } from '../bench-case.js';
import { type Contest, hold, type RatioBar } from '../contest.js';
import { type Caller, type Contestant, CPU, NATIVE, STRADDLE } from '../contestants/contestant.js';
import { startPair } from '../contestants/pair.js';
import { type Asked, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';

const CASE = 'discovery';
const SHAPE = { connections: 4, streams: 2, seconds: 1.5 };
const OPENAPI = '/openapi/v3/apis/apps/v1';

interface Form {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly conditional?: boolean;
  /** Every right answer has this in it. */
  readonly text: string;
  /** At least this many times the native feature's rate. */
  readonly bar?: number;
}

const GZIP = { 'accept-encoding': 'gzip' };
const AGGREGATED = { accept: AGGREGATED_V2 };
/** Only B serves Jobs, and both are asked at A: what has them is merged. */
const MERGED = { path: '/apis', text: '"resource":"jobs"' };

const FORMS: readonly Form[] = [
  { name: 'merged /apis', ...MERGED, headers: AGGREGATED },
  { name: 'merged /apis, gzip', ...MERGED, headers: { ...AGGREGATED, ...GZIP }, bar: 4 },
  { name: 'merged /apis, 304', ...MERGED, headers: AGGREGATED, conditional: true, bar: 3 },
  { name: OPENAPI, path: OPENAPI, headers: { accept: 'application/json' }, text: '"openapi"' },
  { name: `${OPENAPI}, gzip`, path: OPENAPI, headers: { accept: 'application/json', ...GZIP }, text: '"openapi"' },
];

export const discovery: BenchCase = {
  name: CASE,
  text: 'merged discovery whole, gzip and 304, and an OpenAPI document: native mixed version proxy, Straddle',
  async run(context) {
    const pair = await startPair(context);
    const straddle = { ...pair.reroute, name: STRADDLE };
    const load = new MeasuredLoad(pair.caller);
    const results: CaseResult[] = [];
    for (const form of FORMS) results.push(await measure(form, [pair.native, straddle], load, context));
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: results.flatMap(({ bars }) => bars) };
  },
};

async function measure(
  form: Form,
  contestants: readonly Contestant[],
  load: MeasuredLoad,
  context: BenchContext,
): Promise<CaseResult> {
  const asked = new Map<string, Asked>();
  for (const each of contestants) asked.set(each.name, await firstAnswer(each, form, load.caller));
  const rate = `${form.name}: ${THROUGHPUT}`;
  const cpu = `${form.name}: ${CPU}`;
  const contest: Contest = {
    case: CASE,
    contestants: contestants.map(({ name }) => name),
    metrics: { [rate]: '1/s', [cpu]: 'µs' },
    bars: form.bar === undefined ? [] : [atLeast(form.name, form.bar, rate)],
    async measure(name) {
      const contestant = contestants.find((each) => each.name === name)!;
      const figures = await load.throughput(contestant, asked.get(name)!, SHAPE);
      return { [rate]: figures[THROUGHPUT]!, ...(figures[CPU] === undefined ? {} : { [cpu]: figures[CPU] }) };
    },
  };
  return hold(contest, context);
}

function atLeast(what: string, bar: number, rate: string): RatioBar {
  return {
    name: `discovery: ${what}, at least ${bar} × native`,
    bar,
    side: 'at least',
    ratio: (of) => of(STRADDLE, rate) / of(NATIVE, rate),
  };
}

/** Looked into once; from then on the same bytes must come each time. */
async function firstAnswer({ name, url }: Contestant, form: Form, { ca, token }: Caller): Promise<Asked> {
  const { path, headers, conditional } = form;
  const answer = await call({ url, ca, token }, path, { headers });
  const zipped = answer.headers['content-encoding'] === 'gzip';
  const text = zipped ? gunzipSync(answer.body).toString() : answer.text;
  // A kube-apiserver sends less than 128 kB as it is, and OpenAPI too, also where it is asked for gzip.
  const mustBeZipped = name === STRADDLE && path === MERGED.path && 'accept-encoding' in headers;
  if (answer.status !== 200 || !text.includes(form.text) || (mustBeZipped && !zipped)) {
    throw new Error(`${name}: ${form.name}: ${answer.status} ${text.slice(0, 300)}`);
  }
  if (!conditional) {
    return { path, headers, expected: { status: 200, bytesMin: answer.body.length, bytesMax: answer.body.length } };
  }
  const etag = answer.headers.etag;
  if (etag === undefined) throw new Error(`${name}: ${form.name}: no ETag`);
  return { path, headers: { ...headers, 'if-none-match': etag }, expected: { status: 304, bytesMin: 0, bytesMax: 0 } };
}
