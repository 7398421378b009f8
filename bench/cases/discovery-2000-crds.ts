import { performance } from 'node:perf_hooks';
import { AGGREGATED_V2, ControlPlane, layoutOfFive, type Server } from '../../test/real/rig/control-plane.js';
import { eventually } from '../../test/real/rig/eventually.js';
import { call, type Endpoint } from '../../test/real/rig/http-client.js';
import type { BenchCase, BenchContext, CaseResult, Row } from '../bench-case.js';
import { type Contest, hold, type RatioBar } from '../contest.js';
import { type CustomKind, createCustomKinds, customKinds } from '../custom-resources.js';
import { type Asked, Connection, type Sample } from '../first-byte.js';
import { measureMerge } from '../merge-cost.js';
import { cpuSeconds, residentMb } from '../process-cost.js';
import { median, quantile, rowOf } from '../statistics.js';

const CASE = 'discovery-2000-crds';
const CRDS = Number(process.env['STRADDLE_BENCH_CRDS'] ?? 2_000);
const SERVERS = 5;
const SAMPLES = { countMax: 200, forMs: 1_000 };
const FIRST_BYTE_BAR_MS = 5;
const SHOWN_TIMEOUT_MS = 15 * 60_000;
const POLL_MS = 1_000;
const NO_PEER_VIEW = `${AGGREGATED_V2};profile=nopeer`;

export const discovery2000Crds: BenchCase = {
  name: CASE,
  text: `${CRDS} CRDs on five servers, A 1.35.8 and the others 1.36.4: how soon merged discovery shows them, what it costs, first byte`,
  async run(context) {
    const plane = await ControlPlane.create(context.dir, context.say, { servers: SERVERS });
    await plane.arrange(layoutOfFive('default'));
    const kinds = customKinds(CRDS);
    const rows = await growth(plane, kinds, context);
    rows.push(...(await measureMerge(CASE, await Promise.all(plane.every.map(({ kube }) => documentsOf(kube.admin))))));
    rows.push(...(await openApiFromNothing(plane, context)));
    const latency = await firstBytes(plane, kinds[0]!, context);
    await plane.stop();
    return { rows: [...rows, ...latency.rows], bars: latency.bars };
  },
};

const one = (contestant: string, metric: string, unit: string, value: number): Row =>
  rowOf({ case: CASE, contestant, metric, unit }, [value]);

/** Creates the CRDs; how soon they show, and what that cost each Straddle. */
async function growth(plane: ControlPlane, kinds: readonly CustomKind[], { say }: BenchContext): Promise<Row[]> {
  await Promise.all(plane.every.map(({ straddle }) => call(straddle.admin, '/apis', { headers: asAggregated })));
  const pids = plane.every.map(({ straddle }) => straddle.process!.pid);
  const before = pids.map((pid) => ({ mb: residentMb(pid), cpu: cpuSeconds(pid) }));
  const startedMs = performance.now();
  await createCustomKinds(
    plane.every.map(({ kube }) => kube.admin),
    kinds,
  );
  const createdMs = performance.now();
  say(`${kinds.length} CRDs created in ${((createdMs - startedMs) / 1000).toFixed(0)} s`);
  const shown = await Promise.all(plane.every.map((server) => shownBy(server, kinds, createdMs)));
  await plane.converged();
  say(`shown by every Straddle ${Math.max(...shown.map(({ straddle }) => straddle)).toFixed(1)} s after the last one`);
  const rows = [one(`etcd + ${SERVERS} kube-apiservers`, 'all CRDs created', 's', (createdMs - startedMs) / 1000)];
  for (const [i, { name }] of plane.every.entries()) {
    const upper = name.toUpperCase();
    rows.push(
      one(`kube-apiserver ${upper}`, 'all shown, after the last was created', 's', shown[i]!.kube),
      one(`Straddle ${upper}`, 'all shown merged, after the last was created', 's', shown[i]!.straddle),
      one(`Straddle ${upper}`, 'resident memory without CRDs', 'MB', before[i]!.mb),
      one(`Straddle ${upper}`, 'resident memory with CRDs', 'MB', residentMb(pids[i]!)),
      one(`Straddle ${upper}`, 'CPU until all were shown', 's', cpuSeconds(pids[i]!) - before[i]!.cpu),
    );
  }
  return rows;
}

const asAggregated = { accept: AGGREGATED_V2 };

/** Seconds from the last creation until the server itself, and the Straddle before it, list every kind. */
async function shownBy(
  { kube, straddle, name }: Pick<Server, 'kube' | 'straddle'> & { name: string },
  kinds: readonly CustomKind[],
  sinceMs: number,
) {
  const until = async (endpoint: Endpoint, accept: string): Promise<number> => {
    let etag: string | undefined;
    return eventually(
      `${endpoint.url} (${name}) lists all ${kinds.length} kinds`,
      async () => {
        const headers = { accept, ...(etag === undefined ? {} : { 'if-none-match': etag }) };
        const answer = await call(endpoint, '/apis', { headers });
        if (answer.status === 304) return false;
        if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 200)}`);
        etag = answer.headers.etag;
        return countOf(answer.text) >= kinds.length && (performance.now() - sinceMs) / 1000;
      },
      { timeoutMs: SHOWN_TIMEOUT_MS, intervalMs: POLL_MS },
    );
  };
  const [localView, merged] = await Promise.all([
    until(kube.admin, NO_PEER_VIEW),
    until(straddle.admin, AGGREGATED_V2),
  ]);
  return { kube: localView, straddle: merged };
}

function countOf(text: string): number {
  return text.match(/"resource":"things\d+"/g)?.length ?? 0;
}

async function documentsOf(endpoint: Endpoint) {
  const read = async (path: string): Promise<Buffer> =>
    (await call(endpoint, path, { headers: { accept: NO_PEER_VIEW } })).body;
  const { gitVersion } = (await call(endpoint, '/version')).json<{ gitVersion: string }>();
  return { name: endpoint.url, core: await read('/api'), groups: await read('/apis'), version: gitVersion };
}

/**
 * An OpenAPI document that A and B have differently, merged when it is first asked for; others must not wait for that.
 * Not OpenAPI v2: with this many CRDs a kube-apiserver needs longer to make the document than it gives any request.
 */
async function openApiFromNothing(plane: ControlPlane, { say }: BenchContext): Promise<Row[]> {
  const rows: Row[] = [];
  const metric = '/openapi/v3/api/v1: first answer';
  const asked = { path: '/openapi/v3/api/v1', headers: { accept: 'application/json' }, status: 200 };
  const firstMs = async (endpoint: Endpoint): Promise<number> => {
    const connection = new Connection(endpoint);
    const { wholeMs } = await connection.sample(asked);
    connection.close();
    return wholeMs;
  };
  for (const { name, kube } of plane.every) {
    rows.push(one(`kube-apiserver ${name.toUpperCase()}`, metric, 'ms', await firstMs(kube.admin)));
  }
  const { straddle } = plane.a;
  const pid = straddle.process!.pid;
  const probe = new Connection(straddle.admin);
  const livez = { path: '/livez', headers: {}, status: 200 };
  await probe.sample(livez);
  let merging = true;
  const first = firstMs(straddle.admin).finally(() => {
    merging = false;
  });
  const waits: number[] = [];
  while (merging) waits.push((await probe.sample(livez)).wholeMs);
  probe.close();
  rows.push(
    one('Straddle A', metric, 'ms', await first),
    one('Straddle A', 'longest wait for /livez meanwhile', 'ms', Math.max(...waits)),
    one('Straddle A', 'resident memory after OpenAPI was asked for', 'MB', residentMb(pid)),
  );
  for (const row of rows) say(`${row.contestant}: ${row.metric} ${row.median} ${row.unit}`);
  return rows;
}

interface Form {
  readonly name: string;
  readonly asked: Omit<Asked, 'status'>;
  readonly conditional?: boolean;
}

function forms({ group }: CustomKind): Form[] {
  const gzip = { 'accept-encoding': 'gzip' };
  const json = { accept: 'application/json' };
  return [
    { name: '/apis aggregated', asked: { path: '/apis', headers: asAggregated } },
    { name: '/apis aggregated, gzip', asked: { path: '/apis', headers: { ...asAggregated, ...gzip } } },
    { name: '/apis aggregated, 304', asked: { path: '/apis', headers: asAggregated }, conditional: true },
    { name: '/apis legacy', asked: { path: '/apis', headers: json } },
    { name: '/apis legacy, gzip', asked: { path: '/apis', headers: { ...json, ...gzip } } },
    { name: `/apis/<group>/v1 legacy`, asked: { path: `/apis/${group}/v1`, headers: json } },
    { name: '/api/v1 legacy', asked: { path: '/api/v1', headers: json } },
    { name: '/openapi/v3 index', asked: { path: '/openapi/v3', headers: json } },
    { name: '/openapi/v3/api/v1', asked: { path: '/openapi/v3/api/v1', headers: json } },
    { name: '/openapi/v3/apis/<group>/v1', asked: { path: `/openapi/v3/apis/${group}/v1`, headers: json } },
  ];
}

/** One request at a time on one kept connection; what is promised is judged by the slowest of all forms. */
async function firstBytes(plane: ControlPlane, kind: CustomKind, context: BenchContext): Promise<CaseResult> {
  const contestants = new Map<string, Endpoint>([
    ['Straddle A', plane.a.straddle.admin],
    ['Straddle B', plane.b.straddle.admin],
    ['kube-apiserver A', plane.a.kube.admin],
    ['kube-apiserver B', plane.b.kube.admin],
  ]);
  const results: CaseResult[] = [];
  for (const form of forms(kind)) results.push(await firstByte(contestants, form, context));
  const slowest = results.flatMap(({ bars }) => bars).reduce((one, other) => (other.ratio > one.ratio ? other : one));
  context.say(`slowest: ${slowest.name}`);
  return {
    rows: results.flatMap(({ rows }) => rows),
    bars: [{ ...slowest, name: `${CASE}: first byte of a cached document, ms, slowest form` }],
  };
}

async function firstByte(
  contestants: ReadonlyMap<string, Endpoint>,
  form: Form,
  context: BenchContext,
): Promise<CaseResult> {
  const open = new Map([...contestants].map(([name, endpoint]) => [name, new Connection(endpoint)]));
  const metric = (what: string): string => `${form.name}: ${what}`;
  const bar = (name: string): RatioBar => ({
    name: `${form.name}, ${name}: ms to the first byte`,
    bar: FIRST_BYTE_BAR_MS,
    side: 'at most',
    ratio: (of) => of(name, metric('first byte')),
  });
  const metrics = { 'first byte': 'ms', 'first byte, p99': 'ms', 'whole answer': 'ms', size: 'kB' };
  const contest: Contest = {
    case: CASE,
    contestants: [...contestants.keys()],
    metrics: Object.fromEntries(Object.entries(metrics).map(([what, unit]) => [metric(what), unit])),
    bars: [...contestants.keys()].filter((name) => name.startsWith('Straddle')).map(bar),
    async measure(name) {
      const { asked, conditional } = form;
      const exact = conditional ? await withEtag(asked, contestants.get(name)!) : { ...asked, status: 200 };
      await open.get(name)!.sample(exact);
      const samples = await open.get(name)!.samples(exact, SAMPLES);
      const all = (figure: (sample: Sample) => number): number[] => samples.map(figure);
      return {
        [metric('first byte')]: median(all(({ firstByteMs }) => firstByteMs)),
        [metric('first byte, p99')]: quantile(
          all(({ firstByteMs }) => firstByteMs),
          0.99,
        ),
        [metric('whole answer')]: median(all(({ wholeMs }) => wholeMs)),
        ...(name === 'Straddle A' ? { [metric('size')]: median(all(({ bytes }) => bytes / 1024)) } : {}),
      };
    },
  };
  try {
    return await hold(contest, context);
  } finally {
    for (const connection of open.values()) connection.close();
  }
}

async function withEtag({ path, headers }: Omit<Asked, 'status'>, endpoint: Endpoint): Promise<Asked> {
  const { headers: answered } = await call(endpoint, path, { headers });
  return { path, headers: { ...headers, 'if-none-match': answered.etag ?? '' }, status: 304 };
}
