import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/proxy/page/page-state.js';
import { type Certificates, makeCertificates } from './certificates.js';
import { eventually, proxyFlags } from './control-plane.js';
import { COMMON, FakeApiServer } from './fake-apiserver.js';
import { ask } from './https-client.js';
import { SharedStorage } from './shared-storage.js';
import { START_MS_MAX, StraddleProcess } from './straddle-process.js';

const SERVED = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
const ALL = 'create delete get list patch update watch';
const WIDGET = '/apis/example.com/v1/namespaces/default/widgets/w';
const ALICE = { authorization: 'Bearer alice-token' };

let certificates: Certificates;
let local: FakeApiServer;
let peer: FakeApiServer;
let straddle: StraddleProcess;
let port: number;
/** One connection each: two for each of the two workers. */
const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));

const through = (agent: Agent, path: string, agentName: string) =>
  ask({ port, ca: certificates.ca.pem }, path, { headers: { ...ALICE, 'user-agent': agentName }, agent });

async function stateThrough(agent: Agent): Promise<PageState> {
  const answer = await through(agent, '/straddle/api/v1/state', 'looker/v1');
  expect(answer.status).toBe(200);
  return answer.json<PageState & Record<string, unknown>>();
}

const counted = ({ clients }: PageState, client: string) =>
  clients.rows.find(({ name }) => name === client)?.requests ?? 0;

beforeAll(async () => {
  certificates = makeCertificates();
  const storage = new SharedStorage();
  storage.put('/apis/example.com/v1/namespaces/default/widgets', { metadata: { name: 'w' } });
  local = new FakeApiServer(certificates, storage, SERVED);
  peer = new FakeApiServer(certificates, storage, { ...SERVED, 'example.com/v1/widgets': ALL });
  await Promise.all([local.start(), peer.start()]);
  straddle = new StraddleProcess(
    proxyFlags(certificates, 'a', local, { workers: '2', peer: `https://127.0.0.1:${peer.port}` }),
  );
  port = await straddle.port();
  for (const agent of agents) await through(agent, '/readyz', 'probe');
}, 2 * START_MS_MAX);

afterAll(async () => {
  for (const agent of agents) agent.destroy();
  straddle.signal('SIGTERM');
  await straddle.exit;
  await Promise.all([local.stop(), peer.stop()]);
  certificates.remove();
});

describe('page of a Straddle with several workers', () => {
  it('shows the requests of all workers, whichever of them is asked', async () => {
    for (const agent of agents) {
      const { status } = await eventually(
        'a reroute',
        () => through(agent, WIDGET, 'kubectl/v1.36.4'),
        (a) => a.status === 200,
      );
      expect(status).toBe(200);
    }
    for (const agent of agents) {
      const state = await eventually(
        'the requests of all workers',
        () => stateThrough(agent),
        (found) => counted(found, 'kubectl') >= agents.length && found.servers.every((s) => s.state === 'ready'),
      );
      expect(state.server).toBe('a');
      expect(state.flow.totals.rerouted).toBeGreaterThanOrEqual(agents.length);
      expect(new Set(state.flow.recent.map(({ id }) => id)).size).toBe(state.flow.recent.length);
      expect(state.servers).toHaveLength(2);
      expect(state.skew.rows.map(({ name }) => name)).toEqual(['widgets.v1.example.com']);
      expect(state.skew.rows[0]!.usedAtMs).not.toBeNull();
    }
  });

  it('streams requests that another worker has served', async () => {
    let text = '';
    const sent = request({
      ...{ host: '127.0.0.1', port, ca: certificates.ca.pem, agent: agents[0]! },
      ...{ path: '/straddle/api/v1/stream', headers: ALICE },
    });
    sent.on('error', () => {});
    sent.on('response', (reply) => {
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.on('error', () => {});
    });
    sent.end();
    await eventually(
      'the state',
      () => text,
      (all) => all.includes('event: verdict') || all.includes('event: state'),
    );
    for (const agent of agents.slice(1)) await through(agent, WIDGET, 'elsewhere/v1');
    await eventually(
      'their rows',
      () => (text.match(/elsewhere\/v1 ?"/g) ?? []).length,
      (rows) => rows >= 3,
    );
    sent.destroy();
  });

  it(
    'does not lose the totals of a worker that is killed',
    async () => {
      const before = await stateThrough(agents[1]!);
      const lost = straddle.workers().get(1)!;
      process.kill(lost, 'SIGKILL');
      await eventually(
        'another worker',
        () => straddle.workers().get(1),
        (pid) => pid !== lost,
        START_MS_MAX,
      );
      for (const agent of agents) agent.destroy();
      const fresh = new Agent({ keepAlive: true, maxSockets: 1 });
      const after = await stateThrough(fresh);
      fresh.destroy();
      expect(after.flow.totals.requests).toBeGreaterThanOrEqual(before.flow.totals.requests);
    },
    START_MS_MAX,
  );

  it('tells other Straddles whom its head reaches', async () => {
    const headers = ['x-remote-user', 'system:straddle'];
    const { frontProxy } = certificates;
    const answer = await ask({ port, ca: certificates.ca.pem }, '/straddle/api/v1/reach', {
      headers: { [headers[0]!]: headers[1]!, 'x-kubernetes-peer-proxied': 'true' },
      as: frontProxy,
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ kind: 'StraddleReach', server: 'a', peering: true, passthrough: false });
    expect(answer.json<{ peers: unknown[] }>().peers).toEqual([{ name: `127.0.0.1:${peer.port}`, reaches: true }]);
  });
});
