import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { AGGREGATED_V2, type ControlPlane, layoutOf, type Server } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, keepAliveAgent } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import { runStraddle } from '../rig/straddle.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { createPodGroup } from './podgroups.js';

const RATE_PER_SECOND = 200;
const GRACE_SECONDS = 25;
const LAYOUT = layoutOf('default', { 'departed-grace': `${GRACE_SECONDS}s` });

export const peersGone: Scenario = {
  number: 7,
  name: 'kill -9 of B under 200 rerouted GET/s: none fails; all capable peers gone: 503, never 404, until grace or forget',
  timeoutMs: 240_000,
  async run(context) {
    const { plane } = context;
    await plane.arrange(LAYOUT);
    const path = await createPodGroup(plane.b.kube.admin, await context.namespace(), 'wanted');
    await oneOfTwoIsKilled(context, path);

    await Promise.all([plane.b, plane.c].flatMap(({ kube, straddle }) => [kube.kill(), straddle.kill()]));
    const departedMs = Date.now();
    await waitsAndStaysListed(plane, path);
    await plane.a.straddle.stop();
    await plane.a.straddle.start(plane.a.straddle.flags);
    await isUnavailable(plane, path);
    await isStale(plane);
    assert.ok(Date.now() - departedMs < GRACE_SECONDS * 1000, 'the steps before took longer than the grace period');
    await becomesNotFound(plane, path, GRACE_SECONDS * 1000 + 10_000);

    await plane.arrange(LAYOUT);
    await stopGracefully([plane.b, plane.c]);
    await waitsAndStaysListed(plane, path);
    for (const { hostname } of [plane.b, plane.c]) {
      const forgotten = runStraddle('forget', hostname, `--kubeconfig=${plane.kubeconfig}`, '--context=straddle-a');
      assert.equal(forgotten.code, 0, forgotten.stderr);
    }
    await becomesNotFound(plane, path, 5_000);
  },
};

async function oneOfTwoIsKilled({ plane, defer }: ScenarioContext, path: string): Promise<void> {
  const agent = keepAliveAgent(20);
  defer(() => agent.destroy());
  const load = new Load({
    ratePerSecond: RATE_PER_SECOND,
    send: () => call(plane.a.straddle.admin, path, { agent }),
  });
  defer(() => load.stop());
  await eventually('B has got its share', () => reroutedTo(plane.b, path) > 50);
  const before = load.count();
  await Promise.all([plane.b.kube.kill(), plane.b.straddle.kill()]);
  await eventually('the load went on for 5 s', () => load.count() >= before + 5 * RATE_PER_SECOND * 0.8);

  await plane.b.kube.start(LAYOUT.kube.b ?? assert.fail());
  await plane.b.straddle.start(LAYOUT.straddle.b);
  const position = plane.b.kube.auditPosition();
  await eventually('B takes traffic again', () => reroutedTo(plane.b, path, position) > 20, { timeoutMs: 30_000 });
  const outcomes = await load.stop();
  agent.destroy();
  assert.ok(
    outcomes.every(({ status }) => status === 200),
    summary(outcomes),
  );
}

function reroutedTo({ kube }: Server, path: string, since = 0): number {
  return kube.auditSince(since).filter(({ requestURI }) => requestURI === path).length;
}

async function stopGracefully(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(({ straddle }) => straddle.stop()));
  await Promise.all(servers.map(({ kube }) => kube.stop()));
}

/** From the very first request, over the moment when the peers are declared gone, and beyond. */
async function waitsAndStaysListed(plane: ControlPlane, path: string): Promise<void> {
  const untilMs = Date.now() + 9_000;
  while (Date.now() < untilMs) {
    await isUnavailable(plane, path);
    assert.ok((await schedulingVersions(plane)).includes('v1alpha2'), 'the API fell out of merged discovery');
    await delay(100);
  }
  await isStale(plane);
}

async function isUnavailable(plane: ControlPlane, path: string): Promise<void> {
  const answer = await call(plane.a.straddle.admin, path);
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.json().kind, 'Status');
  assert.equal(answer.json()['reason'], 'ServiceUnavailable');
  assert.match(answer.json()['message'], /podgroups/);
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
}

async function becomesNotFound(plane: ControlPlane, path: string, timeoutMs: number): Promise<void> {
  await eventually(
    'podgroups are a 404 and out of discovery',
    async () => {
      const { status } = await call(plane.a.straddle.admin, path);
      assert.ok(status === 503 || status === 404, `status ${status}`);
      return status === 404 && !(await schedulingVersions(plane)).includes('v1alpha2');
    },
    { timeoutMs },
  );
}

async function isStale(plane: ControlPlane): Promise<void> {
  await eventually('podgroups are marked stale', async () => {
    const version = (await schedulingGroup(plane)).find((each) => each.version === 'v1alpha2');
    return version?.freshness === 'Stale';
  });
  const version = (await schedulingGroup(plane)).find((each) => each.version === 'v1');
  assert.equal(version?.freshness, 'Current', 'what A serves itself is not stale');
}

async function schedulingVersions(plane: ControlPlane): Promise<string[]> {
  return (await schedulingGroup(plane)).map(({ version }) => version);
}

async function schedulingGroup(plane: ControlPlane): Promise<{ version: string; freshness?: string }[]> {
  const answer: Answer = await call(plane.a.straddle.admin, '/apis', { headers: { accept: AGGREGATED_V2 } });
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: { version: string }[] }[] }>();
  return items.find(({ metadata }) => metadata.name === 'scheduling.k8s.io')?.versions ?? [];
}
