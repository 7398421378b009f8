import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { startEtcd } from '../../test/real/rig/etcd.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { call, type Endpoint } from '../../test/real/rig/http-client.js';
import { KubeApiserver } from '../../test/real/rig/kube-apiserver.js';
import { createPki, type Pki } from '../../test/real/rig/pki.js';
import type { RigProcess } from '../../test/real/rig/process.js';
import { StraddleApiserver } from '../../test/real/rig/straddle-apiserver.js';
import type { Bar, BenchCase, BenchContext, CaseResult, Row } from '../bench-case.js';
import { hold, judgeRatios } from '../contest.js';
import { type Asked, type LoadShape, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';
import { load as changingLoad } from '../load.js';
import { residentMb } from '../process-cost.js';
import { median, quantile, rowOf } from '../statistics.js';
import { WatchCrowd } from '../watch-crowd.js';

const CASE = 'embedded';
const STARTS = 7;
const SECONDS = 2;
const SIZE_TOLERANCE = 0.02;
const LISTED = 500;
const IDLE_AFTER_MS = 20_000;
const NAMESPACE = 'bench';
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const LIST_NAMESPACE = 'bench-list';
const LIST_MAPS = `/api/v1/namespaces/${LIST_NAMESPACE}/configmaps`;
const REAL = 'kube-apiserver 1.36.4 + etcd';
const STRADDLE = 'straddle apiserver, embedded store';

const TOKEN = 'bench-token';

/** ~1 kB, like most objects. */
const PAYLOAD = 'x'.repeat(900);

interface Server {
  readonly name: string;
  readonly admin: Endpoint;
  /** All processes that together are this API server. */
  processes(): readonly RigProcess[];
  restart(): Promise<void>;
}

interface Work {
  readonly metric: string;
  /** Not less than this many times the real server's rate. */
  readonly bar: number;
  readonly shape: LoadShape;
  readonly path: string;
  /** Posted where there is one. */
  readonly body?: object;
  readonly status: number;
}

/** Asked over HTTP/2 by h2load: a client in Node.js would cost more than the cheaper of the two servers. */
const WORKS: readonly Work[] = [
  { metric: 'get', bar: 3, shape: { connections: 16, streams: 1, seconds: 2 }, path: `${MAPS}/one`, status: 200 },
  { metric: `list ${LISTED}`, bar: 3, shape: { connections: 4, streams: 1, seconds: 2 }, path: LIST_MAPS, status: 200 },
  {
    metric: 'create',
    bar: 1.5,
    shape: { connections: 32, streams: 1, seconds: 2 },
    path: MAPS,
    body: { ...map(''), metadata: { generateName: 'made-' } },
    status: 201,
  },
];

/** Every update must differ from the one before, which h2load cannot do. */
const UPDATE = {
  connections: 16,
  method: 'PUT',
  path: `${MAPS}/one`,
  body: JSON.stringify({ ...map('one'), data: { payload: PAYLOAD, turn: '#' } }),
  expectedStatus: 200,
  expectedText: PAYLOAD,
};

/** One write reaches 50 watches: 1,000 events a second in all. */
const WATCHED = 10;
const WATCHERS_EACH = 50;
const PACE = { writesPerSecond: 20, seconds: 3 };

export const embedded: BenchCase = {
  name: CASE,
  text: 'straddle apiserver beside a real kube-apiserver with etcd: get, list, create, update, watch, start, idle memory',
  async run(context) {
    const pki = createPki(`${context.dir}/pki`);
    const tokens = join(context.dir, 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},bench,bench,"system:masters"\n`);
    const servers = [await realServer(context, pki, tokens), await straddleServer(context, pki, tokens)];
    const results: CaseResult[] = [await measureStarts(servers, context)];
    for (const { admin } of servers) await fill(admin);
    results.push(await measureIdle(servers, context));
    const load = new MeasuredLoad({ ca: pki.ca.certPem, caFile: pki.ca.certFile, token: TOKEN });
    for (const work of WORKS) results.push(await measureWork(work, servers, load, context));
    results.push(await measureUpdates(servers, pki, context));
    results.push(await measureWatches(servers, context));
    results.push(await measureFull(servers, context));
    for (const each of servers) for (const process of each.processes()) await process.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: results.flatMap(({ bars }) => bars) };
  },
};

async function realServer({ dir }: BenchContext, pki: Pki, tokens: string): Promise<Server> {
  // As durable as the embedded store, which has every write on the disk before it answers.
  const etcd = await startEtcd(dir, { durable: true });
  const address = '127.0.0.22';
  const options = {
    name: 'bench',
    hostname: 'bench',
    address,
    port: await freePort(address),
    dir,
    etcdUrl: etcd.url,
    pki,
  };
  const kube = new KubeApiserver(options);
  // Without the audit log that the rig's scenarios read: it would cost only one of the two something.
  const flags = ['--audit-log-path=', '--audit-policy-file=', `--token-auth-file=${tokens}`];
  const settings = { version: 'v1.36.4', flags } as const;
  await kube.start(settings);
  return {
    name: REAL,
    admin: kube.admin,
    processes: () => [kube.process!, etcd.process],
    async restart() {
      await kube.stop();
      await kube.start(settings);
    },
  };
}

async function straddleServer({ dir }: BenchContext, pki: Pki, tokens: string): Promise<Server> {
  const address = '127.0.0.23';
  const apiserver = new StraddleApiserver({ name: 'bench', address, port: await freePort(address), dir, pki });
  const start = () => apiserver.start(undefined, { 'token-auth-file': tokens });
  await start();
  return {
    name: STRADDLE,
    admin: apiserver.admin,
    processes: () => [apiserver.process!],
    async restart() {
      await apiserver.stop();
      await start();
    },
  };
}

function map(name: string): object {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { payload: PAYLOAD } };
}

async function fill(admin: Endpoint): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await call(admin, path, { method: 'POST', body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  };
  for (const name of [NAMESPACE, LIST_NAMESPACE])
    await post('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } });
  await post(MAPS, map('one'));
  for (let index = 0; index < LISTED; index++) await post(LIST_MAPS, map(`m${index}`));
}

const names = (servers: readonly Server[]): string[] => servers.map(({ name }) => name);

const named = (servers: readonly Server[], name: string): Server => servers.find((each) => each.name === name)!;

async function measureWork(work: Work, servers: readonly Server[], load: MeasuredLoad, context: BenchContext) {
  const { metric, bar, shape, body } = work;
  const asked = new Map<string, Asked>();
  for (const { name, admin } of servers) asked.set(name, await firstAnswer(work, admin, context));
  const rate = body === undefined ? metric : `${metric}, durable`;
  return hold(
    {
      case: CASE,
      contestants: names(servers),
      metrics: { [rate]: '1/s' },
      bars: [
        {
          name: `embedded: ${metric}, at least ${bar} × the real server`,
          bar,
          side: 'at least',
          ratio: (of) => of(STRADDLE, rate) / of(REAL, rate),
        },
      ],
      async measure(name) {
        const contestant = { name, url: named(servers, name).admin.url, proxyPid: undefined };
        const figures = await load.throughput(contestant, asked.get(name)!, shape);
        return { [rate]: figures[THROUGHPUT]! };
      },
    },
    { say: context.say },
  );
}

/** Looked into once; from then on bodies of that size must come each time. */
async function firstAnswer(
  { path, body, status, metric }: Work,
  admin: Endpoint,
  { dir }: BenchContext,
): Promise<Asked> {
  const answer = await call(admin, path, body === undefined ? {} : { method: 'POST', body });
  const complete = metric.startsWith('list') ? `"name":"m${LISTED - 1}"` : PAYLOAD;
  if (answer.status !== status || !answer.text.includes(complete)) {
    throw new Error(`${admin.url}${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  const bytes = answer.body.length;
  // Versions have a digit more after a while.
  const expected = { status, bytesMin: bytes * (1 - SIZE_TOLERANCE), bytesMax: bytes * (1 + SIZE_TOLERANCE) };
  if (body === undefined) return { path, headers: {}, expected };
  const bodyFile = join(dir, `${metric}.json`);
  writeFileSync(bodyFile, JSON.stringify(body));
  return { path, headers: { 'content-type': 'application/json' }, bodyFile, expected };
}

async function measureUpdates(servers: readonly Server[], pki: Pki, context: BenchContext) {
  const metric = 'update of one object';
  return hold(
    {
      case: CASE,
      contestants: names(servers),
      metrics: { [metric]: '1/s', [`${metric}, P99`]: 'ms' },
      async measure(name, round) {
        const answer = await changingLoad({
          ...UPDATE,
          url: named(servers, name).admin.url,
          ca: pki.ca.certFile,
          cert: pki.users.admin.certFile,
          key: pki.users.admin.keyFile,
          seconds: SECONDS,
          prefix: `update-${round}`,
        });
        return { [metric]: answer.requestsPerSecond, [`${metric}, P99`]: answer.p99Ms };
      },
    },
    context,
  );
}

async function measureWatches(servers: readonly Server[], context: BenchContext) {
  const crowds = new Map<string, WatchCrowd>();
  const watched = Array.from({ length: WATCHED }, (_, i) => `m${i}`);
  for (const { name, admin } of servers) {
    const server = { url: admin.url, ca: admin.ca, token: TOKEN };
    const crowd = { server, writeTo: admin, collection: LIST_MAPS, names: watched };
    crowds.set(name, await WatchCrowd.open({ ...crowd, watchersEach: WATCHERS_EACH, perConnection: 100 }));
  }
  const metric = `delivery to ${WATCHED * WATCHERS_EACH} watches`;
  const result = await hold(
    {
      case: CASE,
      contestants: names(servers),
      metrics: { [`${metric}, P50`]: 'ms', [`${metric}, P99`]: 'ms' },
      async measure(name) {
        const latenciesMs = await crowds.get(name)!.deliver(PACE);
        return { [`${metric}, P50`]: quantile(latenciesMs, 0.5), [`${metric}, P99`]: quantile(latenciesMs, 0.99) };
      },
    },
    context,
  );
  for (const crowd of crowds.values()) crowd.close();
  return result;
}

async function measureStarts(contestants: readonly Server[], { say }: BenchContext) {
  const seconds = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < STARTS; round++) {
    for (const each of contestants) {
      const begunMs = performance.now();
      await each.restart();
      seconds.get(each.name)!.push((performance.now() - begunMs) / 1000);
    }
  }
  const rows = contestants.map(({ name }) =>
    rowOf({ case: CASE, contestant: name, metric: 'stop, start and ready', unit: 's' }, seconds.get(name)!),
  );
  const [straddle, real] = [seconds.get(STRADDLE)!, seconds.get(REAL)!];
  say(`start: ${median(straddle).toFixed(2)} s against ${median(real).toFixed(2)} s`);
  const bar = { name: 'embedded: start, at most 1/3 of the real server', bar: 1 / 3, side: 'at most' } as const;
  const ratios = straddle.map((each, i) => each / real[i]!);
  return { rows, bars: [judgeRatios(bar, median(straddle) / median(real), ratios)] };
}

/** While both hold the same objects: the faster one has many more of them later. */
async function measureIdle(contestants: readonly Server[], { say }: BenchContext) {
  const totals = await memoryAfterRestart(contestants);
  const rows = contestants.map(({ name }, i) =>
    rowOf({ case: CASE, contestant: name, metric: 'idle memory', unit: 'MB' }, [totals[i]!]),
  );
  const ratio = totals[1]! / totals[0]!;
  say(`idle memory: ${totals[1]!.toFixed(0)} MB against ${totals[0]!.toFixed(0)} MB`);
  const bars: Bar[] = [
    { name: 'embedded: idle memory, at most 1/2 of the real server', ratio, bar: 0.5, holds: ratio <= 0.5 },
  ];
  return { rows, bars };
}

/** With all that the creates have left; each contestant as many as it was fast. */
async function measureFull(contestants: readonly Server[], { say }: BenchContext): Promise<CaseResult> {
  const totals = await memoryAfterRestart(contestants);
  const rows: Row[] = [];
  for (const [i, { name, admin }] of contestants.entries()) {
    const answer = await call(admin, `${MAPS}?limit=1`);
    const list = JSON.parse(answer.text) as { metadata: { remainingItemCount?: number } };
    const objects = 1 + (list.metadata.remainingItemCount ?? 0);
    rows.push(rowOf({ case: CASE, contestant: name, metric: 'memory after the load', unit: 'MB' }, [totals[i]!]));
    rows.push(rowOf({ case: CASE, contestant: name, metric: 'objects then', unit: '' }, [objects]));
    say(`${name}: ${totals[i]!.toFixed(0)} MB with ${objects} objects`);
  }
  return { rows, bars: [] };
}

async function memoryAfterRestart(contestants: readonly Server[]): Promise<number[]> {
  for (const each of contestants) await each.restart();
  await delay(IDLE_AFTER_MS);
  return contestants.map(({ processes }) => processes().reduce((sum, { pid }) => sum + residentMb(pid), 0));
}
