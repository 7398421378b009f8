import assert from 'node:assert/strict';
import { type ControlPlane, layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call, keepAliveAgent } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import type { Scenario } from '../scenario.js';

export const jobsThroughA: Scenario = {
  number: 4,
  name: 'A without batch/v1: create, get, watch and delete a Job through its Straddle',
  async run({ plane, namespace, defer }) {
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
};

/** A comes back as a server that does not know jobs: what its Straddle still believes of it must not show. */
async function neverWrongWhileARestarts(plane: ControlPlane): Promise<void> {
  const agent = keepAliveAgent(10);
  const load = new Load({
    ratePerSecond: 100,
    send: () => call(plane.a.straddle.admin, '/apis/batch/v1/namespaces/default/jobs', { agent }),
  });
  try {
    await plane.arrange(layoutOf('batch'));
  } finally {
    await load.stop();
    agent.destroy();
  }
  const wrong = load.outcomes.filter(({ status }) => status !== 200);
  assert.ok(load.outcomes.length > 100, `only ${load.outcomes.length} requests were sent`);
  assert.equal(wrong.length, 0, `while A restarted without jobs: ${summary(wrong)}`);
}
