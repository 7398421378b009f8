import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from './certificates.js';
import { eventually, proxyFlags } from './control-plane.js';
import { COMMON, FakeApiServer } from './fake-apiserver.js';
import { type Ask, ask } from './https-client.js';
import { SharedStorage } from './shared-storage.js';
import { isAlive, START_MS_MAX, StraddleProcess } from './straddle-process.js';

const ALL = 'create delete get list patch update watch';
const SERVED = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const WIDGET = '/apis/example.com/v1/namespaces/default/widgets/w';
const ALICE = { authorization: 'Bearer alice-token' };
/** Served by both, until a test takes it from the local server. */
const SHARED = '/apis/example.com/v1/namespaces/default/shared/s';
/** Scenario 49 has the second that is promised; beside other tests a process may wait longer for the processor. */
const EFFECT_MS_MAX = 5_000;

let certificates: Certificates;
let storage: SharedStorage;
let local: FakeApiServer;
let peer: FakeApiServer;
let straddle: StraddleProcess;
let port: number;
let file: string;
/** One connection each: two for each of the two workers. */
let agents: Agent[] = [];

const through = (agent: Agent | undefined, path: string, more: Ask = {}) =>
  ask({ port, ca: certificates.ca.pem }, path, { headers: ALICE, ...more, ...(agent ? { agent } : {}) });
const everywhere = (path = WIDGET) => Promise.all(agents.map(async (agent) => (await through(agent, path)).status));
const isEverywhere = (status: number) => (all: readonly number[]) => all.every((each) => each === status);

async function start(): Promise<void> {
  straddle = new StraddleProcess(
    proxyFlags(certificates, 'a', local, { workers: '2', peer: `https://127.0.0.1:${peer.port}` }),
  );
  port = await straddle.port();
  agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  for (const agent of agents) await through(agent, '/readyz');
}

/** Kills the second worker, and connects anew to the workers that then serve. */
async function replaceWorker(): Promise<void> {
  const lost = straddle.workers().get(2)!;
  process.kill(lost, 'SIGKILL');
  await eventually(
    'another worker',
    () => straddle.workers().get(2),
    (pid) => pid !== lost,
    START_MS_MAX,
  );
  for (const agent of agents.splice(0)) agent.destroy();
  agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
}

async function stop(): Promise<void> {
  for (const agent of agents.splice(0)) agent.destroy();
  if (straddle && isAlive(straddle.pid)) {
    straddle.signal('SIGTERM');
    await straddle.exit;
  }
}

async function order(on: boolean): Promise<void> {
  const answer = await through(undefined, '/straddle/passthrough', { method: 'POST', body: { on, reason: 'test' } });
  expect(answer.json()).toMatchObject({ on, notKept: null });
}

beforeAll(async () => {
  certificates = makeCertificates();
  storage = new SharedStorage();
  local = new FakeApiServer(certificates, storage, { ...SERVED, 'example.com/v1/shared': ALL });
  peer = new FakeApiServer(certificates, storage, { ...local.served, 'example.com/v1/widgets': ALL });
  await Promise.all([local.start(), peer.start()]);
  storage.put('/apis/example.com/v1/namespaces/default/widgets', { metadata: { name: 'w' } });
  storage.put('/apis/example.com/v1/namespaces/default/shared', { metadata: { name: 's' } });
  file = join(certificates.directory, 'a', 'passthrough');
  await start();
  await eventually('every worker rerouting', everywhere, isEverywhere(200), START_MS_MAX);
}, 120_000);

afterAll(async () => {
  await stop();
  await Promise.all([local.stop(), peer.stop()]);
  certificates.remove();
}, 30_000);

describe('passthrough with two workers', () => {
  it('is on in every worker within seconds, off again likewise, and no request fails', async () => {
    const statuses: number[] = [];
    let isOver = false;
    const loads = agents.map(async (_, index) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let turn = 0; !isOver; turn++) {
        const body = { metadata: { name: `written-${index}-${turn}` } };
        const write = through(agent, CONFIGMAPS, { method: 'POST', body });
        statuses.push(...(await Promise.all([write, through(agent, CONFIGMAPS)])).map(({ status }) => status));
      }
      agent.destroy();
    });
    const switches = { order, file: async (on: boolean) => (on ? writeFileSync(file, '') : rmSync(file)) };
    try {
      for (const change of [switches.order, switches.file, switches.order]) {
        for (const on of [true, false]) {
          const beganMs = performance.now();
          await change(on);
          await eventually('the effect', everywhere, isEverywhere(on ? 404 : 200));
          expect(performance.now() - beganMs).toBeLessThan(EFFECT_MS_MAX);
        }
      }
    } finally {
      isOver = true;
      await Promise.all(loads);
    }
    expect(statuses.length).toBeGreaterThan(100);
    expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  }, 60_000);

  it('is one switch in the metrics, and one log line', async () => {
    const before = straddle.log.filter(({ msg }) => msg.startsWith('passthrough is')).length;
    await order(true);
    for (const agent of agents) {
      const { text } = await through(agent, '/metrics');
      expect(text).toMatch(/^straddle_passthrough 1$/m);
      expect(Number(/^straddle_passthrough_since_seconds (\S+)$/m.exec(text)?.[1])).toBeLessThan(
        Date.now() / 1_000 + 1,
      );
    }
    const lines = straddle.log.filter(({ msg }) => msg.startsWith('passthrough is')).slice(before);
    expect(lines).toMatchObject([{ level: 'warn', by: 'alice', reason: 'test' }]);
  });

  it('is on in a worker that replaces a killed one', async () => {
    await replaceWorker();
    expect(await everywhere()).toEqual([404, 404, 404, 404]);
  }, 90_000);

  it('leaves no stale surface in a worker that was started meanwhile', async () => {
    await local.stop();
    local.served = SERVED;
    await eventually('the workers without a server', () => everywhere('/readyz'), isEverywhere(503));
    await local.start();
    local.mode = 'undiscovered';
    await eventually('the workers', () => everywhere('/readyz'), isEverywhere(200));
    await replaceWorker();
    await eventually('the new worker', () => everywhere('/readyz'), isEverywhere(200));
    expect(await everywhere(SHARED)).toEqual([404, 404, 404, 404]);
    await order(false);
    expect(await everywhere(SHARED)).toEqual([200, 200, 200, 200]);
    local.mode = 'up';
    await order(true);
  }, 90_000);

  it('is on from the first request after a restart, and refuses strangers in every worker', async () => {
    await stop();
    expect(existsSync(file)).toBe(true);
    await start();
    expect(await everywhere()).toEqual([404, 404, 404, 404]);
    for (const agent of agents) {
      const nobody = { method: 'POST', body: { on: false }, headers: { authorization: 'Bearer nobody-token' } };
      expect((await through(agent, '/straddle/passthrough', nobody)).status).toBe(403);
      expect((await through(agent, '/straddle/passthrough', { ...nobody, headers: {} })).status).toBe(401);
    }
    await order(false);
    await eventually('every worker rerouting', everywhere, isEverywhere(200));
    expect(existsSync(file)).toBe(false);
  }, 120_000);
});
