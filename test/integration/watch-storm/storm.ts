import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { type Access, COLLECTION, NAMESPACE } from './access.js';
import { ChildProgram } from './child-program.js';
import type { RecordReport, SeenEvent } from './event-record.js';
import { Latencies } from './latencies.js';
import type { Acknowledged } from './writer.js';

/** The server under the storm. */
export interface StormServer {
  readonly access: Access;
  readonly pid: number;
  /** kill -9, and a start on the same store and port; resolves when it is ready again. */
  killAndRestart(): Promise<void>;
}

export interface StormOptions {
  readonly objects: number;
  readonly ratePerSecond: number;
  readonly forMs: number;
  /** Processes, and how many each holds. */
  readonly informers: readonly number[];
  readonly rawWatchers: readonly number[];
  /** None: the server is left alone. */
  readonly killAfterMs?: number;
}

export interface StormResult {
  readonly watchers: number;
  readonly events: number;
  readonly fillPerSecond: number;
  /** Changes that were acknowledged, per second of the storm with the outage in it. */
  readonly changesPerSecond: number;
  readonly unanswered: number;
  readonly outageMs: number;
  /** From before the write was sent until a watcher had its event. */
  readonly deliveryMs: { readonly p50: number; readonly p99: number };
  readonly writeMs: { readonly p50: number; readonly p99: number };
  /** Processor time while the storm went on, without what a killed server had used. */
  readonly cpuMs: { readonly server: number; readonly writer: number; readonly watchers: number };
  readonly serverMegabytes: { readonly beforeKill: number; readonly end: number };
}

interface Written {
  readonly acknowledged: readonly Acknowledged[];
  readonly tookMs: number;
  readonly failed: number;
  readonly latencies: readonly number[];
  readonly cpuMs: number;
}

interface Watched {
  readonly records: readonly RecordReport[];
  readonly latencies: readonly number[];
  readonly cpuMs: number;
  readonly all?: readonly SeenEvent[];
  readonly states?: readonly Readonly<Record<string, string>>[];
}

/** Creates objects, starts all watches, changes objects at a rate, kills the server, and checks the events of each watch. */
export async function watchStorm(server: StormServer, options: StormOptions): Promise<StormResult> {
  const { access } = server;
  const { objects, ratePerSecond, forMs } = options;
  const client = new StormClient(access);
  const programs: ChildProgram[] = [];
  const start = (name: string, task: object): ChildProgram => {
    const program = new ChildProgram(name, { access, ...task });
    programs.push(program);
    return program;
  };
  try {
    await client.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    const writer = start('writer', { objects, ratePerSecond, forMs });
    writer.tell('fill');
    const filled = await writer.answer<Written>();
    assert.equal(filled.failed, 0, 'every object was made');
    const { metadata } = await client.list();
    const fromRevision = Number(metadata.resourceVersion);
    const raw = options.rawWatchers.map((count, index) =>
      start('raw-watchers', { count, fromRevision, keepsAll: index === 0 }),
    );
    const informers = options.informers.map((count) => start('informers', { count }));
    const watching = [...raw, ...informers];
    for (const program of watching) await program.answer();

    const cpuBefore = options.killAfterMs === undefined ? cpuMsOf(server.pid) : 0;
    writer.tell('storm');
    const outage = options.killAfterMs === undefined ? undefined : await outageAfter(options.killAfterMs, server);
    const written = await writer.answer<Written>();
    const last = await client.send('POST', COLLECTION, { metadata: { name: 'the-end' } });
    for (const program of watching) program.tell(last.metadata.resourceVersion);
    const watched: Watched[] = [];
    for (const program of watching) watched.push(await reportOf(program));
    check({ written, watched, final: await client.list(), last });
    return {
      watchers: watched.reduce((sum, { records }) => sum + records.length, 0),
      events: watched[0]!.records[0]!.count,
      fillPerSecond: objects / (filled.tookMs / 1000),
      changesPerSecond: written.acknowledged.length / (written.tookMs / 1000),
      unanswered: written.failed,
      outageMs: outage?.tookMs ?? 0,
      deliveryMs: percentiles(watched.map(({ latencies }) => latencies)),
      writeMs: percentiles([written.latencies]),
      cpuMs: {
        server: cpuMsOf(server.pid) - cpuBefore,
        writer: Math.round(written.cpuMs),
        watchers: Math.round(watched.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
      },
      serverMegabytes: { beforeKill: outage?.megabytesBefore ?? 0, end: megabytesOf(server.pid) },
    };
  } finally {
    for (const program of programs) program.stop();
    client.close();
  }
}

async function outageAfter(waitMs: number, server: StormServer): Promise<{ tookMs: number; megabytesBefore: number }> {
  await delay(waitMs);
  const megabytesBefore = megabytesOf(server.pid);
  const killedMs = performance.now();
  await server.killAndRestart();
  return { tookMs: performance.now() - killedMs, megabytesBefore };
}

/** A program that resumes says again that all are connected; an error in a stream is one. */
async function reportOf(program: ChildProgram): Promise<Watched> {
  for (;;) {
    const answer = await program.answer<Partial<Watched> & { error?: string }>();
    assert.equal(answer.error, undefined, `${program.name}: an error in the stream`);
    if (answer.records) return answer as Watched;
  }
}

interface Evidence {
  readonly written: Written;
  readonly watched: readonly Watched[];
  readonly final: ConfigMapList;
  readonly last: ConfigMap;
}

function check({ written, watched, final, last }: Evidence): void {
  const seen = watched[0]!.all!;
  const reports = watched.flatMap(({ records }) => records);
  assert.deepEqual(
    reports.flatMap(({ wrongOrder }) => wrongOrder ?? []),
    [],
    'none twice, all in order',
  );
  const [reference] = reports;
  for (const report of reports) assert.deepEqual(report, reference, 'everybody saw the same events in the same order');

  const puts = new Set(
    seen.filter(({ type }) => type !== 'DELETED').map(({ name, revision }) => `${name} ${revision}`),
  );
  const missed = written.acknowledged.filter(
    ({ name, revision }) => revision !== undefined && !puts.has(`${name} ${revision}`),
  );
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} acknowledged writes were not seen`);
  const deletions = seen.filter(({ type }) => type === 'DELETED').length;
  const acknowledgedDeletions = written.acknowledged.filter(({ revision }) => revision === undefined).length;
  assert.ok(deletions >= acknowledgedDeletions, `${deletions} of ${acknowledgedDeletions} deletions were seen`);
  const uncertain = seen.length - 1 - written.acknowledged.length;
  assert.ok(uncertain <= written.failed, `${uncertain} more events than writes, ${written.failed} without an answer`);

  const state = Object.fromEntries(final.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  assert.equal(state['the-end'], last.metadata.resourceVersion);
  for (const each of watched.flatMap(({ states }) => states ?? [])) {
    assert.deepEqual(each, state, 'an informer has what the server has');
  }
}

function percentiles(all: readonly (readonly number[])[]): { p50: number; p99: number } {
  const joined = new Latencies();
  for (const counts of all) joined.join(counts);
  return { p50: joined.percentileMs(50), p99: joined.percentileMs(99) };
}

/** Resident memory; 0 where there is no /proc. */
function megabytesOf(pid: number): number {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    return 0;
  }
}

const CLOCK_TICK_MS = 10;

function cpuMsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
  } catch {
    return 0;
  }
}

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ConfigMap[];
}

class StormClient {
  readonly #agent: Agent;

  constructor(private readonly access: Access) {
    this.#agent = new Agent({ ca: access.caPem, cert: access.certPem, key: access.keyPem });
  }

  async list(): Promise<ConfigMapList> {
    return (await this.send('GET', COLLECTION)) as unknown as ConfigMapList;
  }

  send(method: string, path: string, body?: object): Promise<ConfigMap> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const outgoing = request(new URL(path, this.access.url), { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if ((response.statusCode ?? 0) < 300) resolve(JSON.parse(text) as ConfigMap);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      outgoing.once('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
