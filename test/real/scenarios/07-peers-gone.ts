import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { AGGREGATED_V2, type ControlPlane, layoutOf, type Server } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, keepAliveAgent } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import { runStraddle } from '../rig/straddle.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { createNewer, newerApi } from './newer-api.js';

const RATE_PER_SECOND = 200;
const GRACE_SECONDS = 25;
const layout = () => layoutOf('default', { 'departed-grace': `${GRACE_SECONDS}s` });

export const peersGone: Scenario = {
  number: 7,
  name: 'kill -9 of B under 200 rerouted GET/s: none fails; all capable peers gone: 503, never 404, until grace or forget',
  timeoutMs: 240_000,
  async run(context) {
    const { plane } = context;
    await plane.arrange(layout());
    const path = await createNewer(plane.b.kube.admin, await context.namespace(), 'wanted');
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

    await plane.arrange(layout());
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

  await plane.b.kube.start(layout().kube.b ?? assert.fail());
  await plane.b.straddle.start(layout().straddle.b);
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
    assert.ok(await isListed(plane), 'the API fell out of merged discovery');
    await delay(100);
  }
  await isStale(plane);
}

async function isUnavailable(plane: ControlPlane, path: string): Promise<void> {
  const answer = await call(plane.a.straddle.admin, path);
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.json().kind, 'Status');
  assert.equal(answer.json()['reason'], 'ServiceUnavailable');
  assert.ok(answer.json()['message'].includes(newerApi().resource), answer.text);
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
}

async function becomesNotFound(plane: ControlPlane, path: string, timeoutMs: number): Promise<void> {
  await eventually(
    'the resource is a 404 and out of discovery',
    async () => {
      const { status } = await call(plane.a.straddle.admin, path);
      assert.ok(status === 503 || status === 404, `status ${status}`);
      return status === 404 && !(await isListed(plane));
    },
    { timeoutMs },
  );
}

async function isStale(plane: ControlPlane): Promise<void> {
  const { group, version } = newerApi();
  await eventually('what only departed servers serve is marked stale', async () => {
    return (await freshness(plane, group, version)) === 'Stale';
  });
  assert.equal(await freshness(plane, 'apps', 'v1'), 'Current', 'what A serves itself is not stale');
}

async function isListed(plane: ControlPlane): Promise<boolean> {
  const { group, version } = newerApi();
  return (await discovered(plane, group, version)) !== undefined;
}

async function freshness(plane: ControlPlane, group: string, version: string): Promise<string | undefined> {
  return (await discovered(plane, group, version))?.freshness;
}

interface DiscoveredVersion {
  readonly version: string;
  readonly freshness?: string;
}

async function discovered(plane: ControlPlane, group: string, version: string): Promise<DiscoveredVersion | undefined> {
  const answer: Answer = await call(plane.a.straddle.admin, '/apis', { headers: { accept: AGGREGATED_V2 } });
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: DiscoveredVersion[] }[] }>();
  return items.find(({ metadata }) => metadata.name === group)?.versions.find((each) => each.version === version);
}
