import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { startEtcd } from '../../test/real/rig/etcd.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { call, type Endpoint } from '../../test/real/rig/http-client.js';
import { KubeApiserver } from '../../test/real/rig/kube-apiserver.js';
import { createPki, type Pki } from '../../test/real/rig/pki.js';
import type { RigProcess } from '../../test/real/rig/process.js';
import { StraddleApiserver } from '../../test/real/rig/straddle-apiserver.js';
import type { Bar, BenchCase, BenchContext, Row } from '../bench-case.js';
import { load } from '../load.js';
import type { LoadAnswer, LoadOrder } from '../load-process.js';
import { residentMb } from '../process-cost.js';
import { median, rowOf } from '../statistics.js';

const CASE = 'embedded';
const ROUNDS = 5;
const SECONDS = 2;
const LISTED = 500;
const IDLE_AFTER_MS = 20_000;
const NAMESPACE = 'bench';
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const LIST_NAMESPACE = 'bench-list';
const REAL = 'kube-apiserver 1.36.4 + etcd';
const OWN = 'straddle apiserver, embedded store';

/** Without the audit log that the rig's scenarios read: it would cost only one of the two something. */
const SETTINGS = { version: 'v1.36.4', flags: ['--audit-log-path=', '--audit-policy-file='] } as const;

/** ~1 kB, like most objects. */
const PAYLOAD = 'x'.repeat(900);

interface Contestant {
  readonly name: string;
  readonly admin: Endpoint;
  /** All processes that together are this API server. */
  processes(): readonly RigProcess[];
  restart(): Promise<void>;
}

interface Work {
  readonly metric: string;
  readonly connections: number;
  /** Not less than this many times the real server's rate. */
  readonly bar: number | undefined;
  order(round: string): Pick<LoadOrder, 'method' | 'path' | 'body' | 'expectedStatus' | 'expectedText'>;
}

const WORKS: readonly Work[] = [
  {
    metric: 'get',
    connections: 16,
    bar: 3,
    order: () => ({ method: 'GET', path: `${MAPS}/one`, body: undefined, expectedStatus: 200, expectedText: PAYLOAD }),
  },
  {
    metric: `list ${LISTED}`,
    connections: 4,
    bar: 3,
    order: () => ({
      method: 'GET',
      path: MAPS.replace(NAMESPACE, LIST_NAMESPACE),
      body: undefined,
      expectedStatus: 200,
      expectedText: `"name":"m${LISTED - 1}"`,
    }),
  },
  {
    metric: 'create',
    connections: 32,
    bar: 1.5,
    order: () => ({
      method: 'POST',
      path: MAPS,
      body: JSON.stringify(map('#')),
      expectedStatus: 201,
      expectedText: PAYLOAD,
    }),
  },
  {
    metric: 'update',
    connections: 16,
    bar: undefined,
    order: () => ({
      method: 'PUT',
      path: `${MAPS}/one`,
      body: JSON.stringify({ ...map('one'), data: { payload: PAYLOAD, turn: '#' } }),
      expectedStatus: 200,
      expectedText: PAYLOAD,
    }),
  },
];

export const embedded: BenchCase = {
  name: CASE,
  text: 'straddle apiserver beside a real kube-apiserver with etcd: get, list, create, update, start, idle memory',
  async run(context) {
    const pki = createPki(`${context.dir}/pki`);
    const contestants = [await realServer(context, pki), await ownServer(context, pki)];
    const starts = await measureStarts(contestants, context);
    for (const each of contestants) await fill(each.admin);
    const rates = await measureRates(contestants, pki, context);
    const idle = await measureIdle(contestants, context);
    for (const each of contestants) for (const process of each.processes()) await process.stop();
    return { rows: [...starts.rows, ...rates.rows, ...idle.rows], bars: [...rates.bars, ...starts.bars, ...idle.bars] };
  },
};

async function realServer({ dir }: BenchContext, pki: Pki): Promise<Contestant> {
  const etcd = await startEtcd(dir);
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
  await kube.start(SETTINGS);
  return {
    name: REAL,
    admin: kube.admin,
    processes: () => [kube.process!, etcd.process],
    async restart() {
      await kube.stop();
      await kube.start(SETTINGS);
    },
  };
}

async function ownServer({ dir }: BenchContext, pki: Pki): Promise<Contestant> {
  const address = '127.0.0.23';
  const own = new StraddleApiserver({ name: 'bench', address, port: await freePort(address), dir, pki });
  await own.start();
  return {
    name: OWN,
    admin: own.admin,
    processes: () => [own.process!],
    async restart() {
      await own.stop();
      await own.start();
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
  for (let index = 0; index < LISTED; index++) await post(MAPS.replace(NAMESPACE, LIST_NAMESPACE), map(`m${index}`));
}

async function measureRates(contestants: readonly Contestant[], pki: Pki, { say }: BenchContext) {
  const rows: Row[] = [];
  const bars: Bar[] = [];
  for (const work of WORKS) {
    const rounds = new Map<string, LoadAnswer[]>(contestants.map(({ name }) => [name, []]));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, admin } of contestants) {
        const answer = await load({
          ...work.order(String(round)),
          url: admin.url,
          ca: pki.ca.certFile,
          cert: pki.users.admin.certFile,
          key: pki.users.admin.keyFile,
          connections: work.connections,
          // The first round warms up and does not count.
          seconds: round === 0 ? 1 : SECONDS,
          prefix: `${work.metric.replace(/\W/g, '')}-${round}`,
        });
        if (round > 0) rounds.get(name)!.push(answer);
      }
    }
    const rateOf = (name: string): number[] => rounds.get(name)!.map(({ requestsPerSecond }) => requestsPerSecond);
    for (const { name } of contestants) {
      rows.push(
        rowOf({ case: CASE, contestant: name, metric: work.metric, unit: '1/s' }, rateOf(name)),
        rowOf(
          { case: CASE, contestant: name, metric: `${work.metric}, P99`, unit: 'ms' },
          rounds.get(name)!.map(({ p99Ms }) => p99Ms),
        ),
      );
    }
    const ratio = median(rateOf(OWN)) / median(rateOf(REAL));
    say(
      `${work.metric}: ${median(rateOf(OWN)).toFixed(0)}/s against ${median(rateOf(REAL)).toFixed(0)}/s, ${ratio.toFixed(2)} ×`,
    );
    if (work.bar !== undefined) {
      bars.push({
        name: `${work.metric}: at least ${work.bar} × the real server`,
        ratio,
        bar: work.bar,
        holds: ratio >= work.bar,
      });
    }
  }
  return { rows, bars };
}

async function measureStarts(contestants: readonly Contestant[], { say }: BenchContext) {
  const seconds = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of contestants) {
      const begunMs = performance.now();
      await each.restart();
      seconds.get(each.name)!.push((performance.now() - begunMs) / 1000);
    }
  }
  const rows = contestants.map(({ name }) =>
    rowOf({ case: CASE, contestant: name, metric: 'stop, start and ready', unit: 's' }, seconds.get(name)!),
  );
  const ratio = median(seconds.get(OWN)!) / median(seconds.get(REAL)!);
  say(`start: ${median(seconds.get(OWN)!).toFixed(2)} s against ${median(seconds.get(REAL)!).toFixed(2)} s`);
  const bars: Bar[] = [{ name: 'start: at most 1/3 of the real server', ratio, bar: 1 / 3, holds: ratio <= 1 / 3 }];
  return { rows, bars };
}

async function measureIdle(contestants: readonly Contestant[], { say }: BenchContext) {
  for (const each of contestants) await each.restart();
  await delay(IDLE_AFTER_MS);
  const rows: Row[] = [];
  const totals = contestants.map(({ name, processes }) => {
    const total = processes().reduce((sum, { pid }) => sum + residentMb(pid), 0);
    rows.push(rowOf({ case: CASE, contestant: name, metric: 'idle memory', unit: 'MB' }, [total]));
    return total;
  });
  const ratio = totals[1]! / totals[0]!;
  say(`idle memory: ${totals[1]!.toFixed(0)} MB against ${totals[0]!.toFixed(0)} MB`);
  const bars: Bar[] = [{ name: 'idle memory: at most 1/2 of the real server', ratio, bar: 0.5, holds: ratio <= 0.5 }];
  return { rows, bars };
}
