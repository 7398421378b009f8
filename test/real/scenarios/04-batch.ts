import assert from 'node:assert/strict';
import { eventually } from '../rig/eventually.js';
import { call, keepAliveAgent } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import { layoutOf, type Plane, type ServerName } from '../rig/plane.js';
import type { Scenario, ScenarioContext } from '../scenario.js';

export const jobsThroughA = {
  number: 4,
  name: 'A without batch/v1: create, get, watch and delete a Job through its Straddle',
  async run({ plane, namespace, defer }: ScenarioContext<Plane>) {
    await plane.arrange(layoutOf('default'));
    await neverWrongWhileARestarts(plane);
    const ns = await namespace();
    const straddle = { context: 'straddle-a' };
    const straight = await call(plane.a.kube.admin, `/apis/batch/v1/namespaces/${ns}/jobs`);
    assert.equal(straight.status, 404, 'A itself must not know jobs');

    const watch = plane.kubectl.start(straddle, '-n', ns, 'get', 'jobs', '--watch', '--output-watch-events');
    defer(() => watch.stop());
    await plane.kubectl.run(straddle, '-n', ns, 'create', 'job', 'once', '--image=example.test/nothing', '--', 'true');
    assert.equal(await plane.kubectl.run(straddle, '-n', ns, 'get', 'jobs', '-o', 'name'), 'job.batch/once\n');
    await eventually('the watch shows the job', () => /ADDED\s+once/.test(watch.output()));
    await plane.kubectl.run(straddle, '-n', ns, 'delete', 'job', 'once');
    await eventually('the watch shows the deletion', () => /DELETED\s+once/.test(watch.output()));
    assert.equal(await plane.kubectl.run(straddle, '-n', ns, 'get', 'jobs', '-o', 'name'), '');
  },
} satisfies Scenario;

/**
 * A comes back as a server that does not know jobs: what its Straddle still believes of it must not show. Where both are
 * one process nobody answers while it restarts, or tells to wait; the other servers are not touched by it.
 */
async function neverWrongWhileARestarts(plane: Plane): Promise<void> {
  const loads = [jobsLoad(plane, 'a'), jobsLoad(plane, 'b')] as const;
  try {
    await plane.arrange(layoutOf('batch'));
  } finally {
    await Promise.all(loads.map(({ stop }) => stop()));
  }
  for (const { server, load } of loads) {
    const mayFail = plane.isOneProcess && server === 'a' ? [200, 503, 0] : [200];
    const wrong = load.outcomes.filter(({ status }) => !mayFail.includes(status));
    assert.ok(load.outcomes.length > 100, `only ${load.outcomes.length} requests were sent to ${server}`);
    assert.equal(wrong.length, 0, `while A restarted without jobs, through ${server}: ${summary(wrong)}`);
  }
}

function jobsLoad(plane: Plane, server: ServerName) {
  const agent = keepAliveAgent(10);
  const load = new Load({
    ratePerSecond: 100,
    send: () => call(plane.servers[server].straddle.admin, '/apis/batch/v1/namespaces/default/jobs', { agent }),
  });
  const stop = async (): Promise<void> => {
    await load.stop();
    agent.destroy();
  };
  return { server, load, stop };
}
