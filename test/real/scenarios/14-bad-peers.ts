import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call, keepAliveAgent } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import { startOddPeer } from '../rig/odd-peer.js';
import { createAuthority, servingHosts } from '../rig/pki.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { createNewer } from './newer-api.js';

const ODD_ADDRESS = '127.0.0.51';
/** A peer that has never answered may still be starting; then it is named as unusable. */
const SAID_WITHIN_MS = 45_000;
/** Longest that a request may take while a peer hangs: an attempt is given up and the next peer asked. */
const HANGING_PEER_MS_MAX = 15_000;

export const badPeers: Scenario = {
  number: 14,
  name: 'a peer with another CA, one with malformed discovery, one that hangs: said why, nobody else is harmed',
  async run(context) {
    const { plane } = context;
    await plane.arrange(layoutOf('default'));
    const path = await createNewer(plane.b.kube.admin, await context.namespace(), 'wanted');
    await besideOddPeers(context, path);
    await plane.arrange(layoutOf('default'));
    await oneHangs(context, path);
  },
};

async function besideOddPeers({ plane, defer }: ScenarioContext, path: string): Promise<void> {
  const hosts = servingHosts(ODD_ADDRESS);
  const subject = { commonName: 'odd-peer', hosts };
  const stranger = createAuthority(plane.pki.dir, 'stranger-ca', 'stranger').issue('stranger', subject);
  const known = plane.pki.ca.issue('odd-peer', subject);
  const odd = [
    { peer: await startOddPeer(ODD_ADDRESS, stranger, '{}'), said: /certificate|issuer|verif/i },
    ...(await Promise.all(
      ['{"kind":"APIGroupDiscoveryList","items":[{"versions":7}]}', 'not json at all', '[]'].map(async (body) => ({
        peer: await startOddPeer(ODD_ADDRESS, known, body),
        said: /discovery|JSON|malformed/i,
      })),
    )),
  ];
  for (const { peer } of odd) defer(() => peer.close());
  const { straddle } = plane.a;
  await straddle.stop();
  const logBegins = straddle.process?.log().length ?? 0;
  await straddle.start({ peer: odd.map(({ peer }) => peer.url).join(',') });

  await eventually('what good peers serve still works', async () => (await call(straddle.admin, path)).status === 200);
  assert.equal((await call(straddle.admin, '/api/v1/namespaces')).status, 200);
  // What these peers serve is not known, so a 404 could be wrong.
  const unknown = await call(straddle.admin, '/apis/nowhere.example.test/v1/things');
  assert.equal(unknown.status, 503, unknown.text);
  for (const { peer, said } of odd) {
    const port = new URL(peer.url).port;
    await eventually(
      `the log says why ${peer.url} is unusable (${said})`,
      () => logLines(plane, logBegins).some((line) => line.includes(`:${port}`) && said.test(line)),
      { timeoutMs: SAID_WITHIN_MS },
    );
  }
  assert.equal((await call(straddle.admin, path)).status, 200);
}

function logLines(plane: ControlPlane, begin: number): string[] {
  return (plane.a.straddle.process?.log() ?? '').slice(begin).split('\n');
}

async function oneHangs({ plane, defer }: ScenarioContext, path: string): Promise<void> {
  const agent = keepAliveAgent(20);
  defer(() => agent.destroy());
  const load = new Load({
    ratePerSecond: 50,
    send: () => call(plane.a.straddle.admin, path, { agent, timeoutMs: 30_000 }),
  });
  const hanging = [plane.b.kube.process, plane.b.straddle.process];
  defer(async () => {
    for (const each of hanging) each?.signal('SIGCONT');
    await load.stop();
  });
  await eventually('the load runs', () => load.count() > 50);
  for (const each of hanging) each?.signal('SIGSTOP');
  const before = load.count();
  await eventually('the load goes on', () => load.count() > before + 500, { timeoutMs: 30_000 });
  for (const each of hanging) each?.signal('SIGCONT');
  const outcomes = await load.stop();
  assert.ok(
    outcomes.every(({ status }) => status === 200),
    summary(outcomes),
  );
  const slowestMs = Math.max(...outcomes.map(({ tookMs }) => tookMs));
  assert.ok(slowestMs < HANGING_PEER_MS_MAX, `one request took ${slowestMs.toFixed(0)} ms`);
}
