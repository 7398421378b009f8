import assert from 'node:assert/strict';
import { layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import type { Scenario } from '../scenario.js';

export const jobsThroughA: Scenario = {
  number: 4,
  name: 'A without batch/v1: create, get, watch and delete a Job through its Straddle',
  async run({ plane, namespace, defer }) {
    await plane.arrange(layoutOf('batch'));
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
