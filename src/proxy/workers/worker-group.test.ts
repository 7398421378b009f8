import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../base/logger.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { noPeers } from '../peers/no-peers.js';
import { SharedView } from './shared-view.js';
import { WorkerGroup } from './worker-group.js';

/** Worker program that replies with its process id, or fails according to its mode. */
const PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs';
const { mode } = JSON.parse(process.argv[2]);
const isSecond = (worker) => existsSync(process.argv[1] + worker) || writeFileSync(process.argv[1] + worker, '');
process.on('disconnect', () => process.exit(0));
process.on('message', (message, socket) => {
  if (message.type === 'start') {
    if (mode === 'fails') process.send({ type: 'failed', why: 'The certificate has expired.' }, () => process.exit(1));
    else if (mode !== 'gets stuck' || !isSecond(message.worker)) process.send({ type: 'serving' });
  } else if (message.type === 'connection') {
    if (mode === 'dies' || mode === 'gets stuck') process.exit(3);
    socket.on('close', () => process.send({ type: 'connections-closed', count: 1 }));
    socket.on('error', () => {});
    socket.write(String(process.pid));
  } else if (message.type === 'export' && mode !== 'hangs') {
    process.send({ type: 'exported', id: message.id, metrics: [] });
  } else if (message.type === 'stop' && mode !== 'hangs') process.exit(0);
});
`;

/** Timeout for processes on a busy machine. */
const WAIT_MS = 15_000;
const directory = mkdtempSync(join(tmpdir(), 'straddle-workers-'));
const file = join(directory, 'worker.mjs');
writeFileSync(file, PROGRAM);
let running: WorkerGroup | undefined;

afterEach(async () => {
  running?.destroy();
  await running?.close(0);
  running = undefined;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function group(mode: string) {
  const clock = new ManualClock();
  const log: Record<string, unknown>[] = [];
  const metrics = createMetrics();
  running = new WorkerGroup({
    workers: 2,
    program: { execArgv: [], file, arguments: [JSON.stringify({ mode })] },
    host: '127.0.0.1',
    port: 0,
    connectionsMax: 100,
    config: {},
    view: new SharedView({ localSurface: () => undefined, directory: noPeers() }),
    localReady: () => true,
    passthrough: () => ({ on: false, sinceMs: 0, reason: '' }),
    answer: async () => undefined,
    metrics,
    emptyMetrics: () => createMetrics().registry,
    clock,
    logger: createLogger({
      level: 'info',
      format: 'json',
      write: (line) => log.push(JSON.parse(line)),
      nowMs: () => clock.nowMs(),
    }),
  });
  const ended = () => log.filter(({ msg }) => String(msg).startsWith('a worker ended'));
  return { group: running, clock, log, metrics, ended };
}

async function pidAt(port: number): Promise<number> {
  const client = connect(port, '127.0.0.1');
  const [chunk] = await once(client, 'data');
  client.destroy();
  return Number(String(chunk));
}

describe('WorkerGroup', () => {
  it('serves connections that were opened before the workers were ready', async () => {
    const { group: started } = group('serves');
    const { port } = await started.listen();
    const early = Promise.all([pidAt(port), pidAt(port)]);
    await started.begin();
    expect(new Set(await early).size).toBe(2);
  });

  it('rejects with the reason of a worker that cannot start', async () => {
    const { group: started, ended } = group('fails');
    await started.listen();
    await expect(started.begin()).rejects.toThrow('The certificate has expired.');
    expect(ended()).toEqual([]);
  });

  it('restarts workers that end, with a growing delay', async () => {
    const { group: started, clock, log, metrics, ended } = group('dies');
    const { port } = await started.listen();
    await started.begin();
    for (const count of [2, 4, 6]) {
      const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
      await Promise.all(clients.map((client) => once(client.on('error', () => {}).resume(), 'close')));
      await until(() => ended().length === count, 'both ending', WAIT_MS);
      await clock.advance(Number(ended().at(-1)!['inMs']));
      const serving = () => log.filter(({ msg }) => msg === 'a worker serves').length;
      await until(() => serving() === 2 + count, 'both serving again', WAIT_MS);
    }
    expect(ended().map(({ inMs }) => inMs)).toEqual([250, 250, 500, 500, 1_000, 1_000]);
    expect(ended()[0]).toMatchObject({ why: 'exit code 3' });
    expect(metrics.registry.render()).toMatch(/^straddle_worker_restarts_total 6$/m);
  });

  it('kills workers that do not respond, and no others', async () => {
    const { group: hanging, clock, ended, log } = group('hangs');
    await hanging.listen();
    await hanging.begin();
    await clock.advance(60_000);
    expect(ended()).toEqual([]);
    await clock.advance(10_000);
    await until(() => ended().length === 2, 'both ending', WAIT_MS);
    expect(log.filter(({ msg }) => msg === 'a worker does not respond (timeout) and is killed')).toHaveLength(2);
    hanging.destroy();
    const { group: well, clock: time, ended: wellEnded } = group('serves');
    const { port } = await well.listen();
    await well.begin();
    for (let i = 0; i < 10; i++) {
      await time.advance(10_000);
      // Both workers were asked for metrics before, and messages keep their order.
      await Promise.all([pidAt(port), pidAt(port)]);
    }
    expect(wellEnded()).toEqual([]);
  });

  it('kills restarted workers that do not begin to serve', async () => {
    const { group: started, clock, ended } = group('gets stuck');
    const { port } = await started.listen();
    await started.begin();
    const client = connect(port, '127.0.0.1');
    await once(client.on('error', () => {}).resume(), 'close');
    await until(() => ended().length === 1, 'one ending', WAIT_MS);
    const { worker } = ended()[0]!;
    await clock.advance(80_000);
    const killed = (): boolean => ended().some((line) => line['worker'] === worker && line['why'] === 'signal SIGKILL');
    await until(killed, 'the stuck one ending', WAIT_MS);
  });

  it('kills workers that do not stop before the timeout', async () => {
    const { group: started, clock, log } = group('hangs');
    const { port } = await started.listen();
    await started.begin();
    const pid = await pidAt(port);
    const closed = started.close(1_000);
    await clock.advance(10_000);
    await closed;
    expect(log.at(-1)).toMatchObject({ msg: 'killed the workers that did not stop before the timeout', workers: 2 });
    expect(() => process.kill(pid, 0)).toThrow();
  });
});
