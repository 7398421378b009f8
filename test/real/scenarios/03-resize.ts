import assert from 'node:assert/strict';
import { layoutOf } from '../rig/control-plane.js';
import { call } from '../rig/http-client.js';
import type { Scenario } from '../scenario.js';
import { pod } from './pod.js';

export const subresourceReroute: Scenario = {
  number: 3,
  name: 'PATCH pods/resize through a server without that subresource reaches one that has it',
  async run({ plane, namespace }) {
    await plane.arrange(layoutOf('wide'));
    const ns = await namespace();
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const created = await call(plane.a.straddle.admin, pods, { method: 'POST', body: pod('resized', '100m') });
    assert.equal(created.status, 201, created.text);

    const resize = {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { spec: { containers: [{ name: 'main', resources: resources('200m') }] } },
    };
    const straight = await call(plane.a.kube.admin, `${pods}/resized/resize`, resize);
    assert.equal(straight.status, 404, 'A itself must not know pods/resize');

    const positions = plane.all.map(({ kube }) => kube.auditPosition());
    const through = await call(plane.a.straddle.admin, `${pods}/resized/resize`, resize);
    assert.equal(through.status, 200, through.text);
    const cpu = through.json()['spec'].containers[0].resources.requests.cpu;
    assert.equal(cpu, '200m');
    const served = plane.all.flatMap(({ name, kube }, index) =>
      kube
        .auditSince(positions[index] ?? 0)
        .filter(({ verb, requestURI }) => verb === 'patch' && requestURI.includes('/resize'))
        .map(({ user }) => `${name === 'a' ? 'a' : 'b or c'} as ${user.username}`),
    );
    assert.deepEqual(served, ['b or c as rig-admin']);

    const kubectl = await plane.kubectl.run(
      { context: 'straddle-a' },
      ...['-n', ns, 'patch', 'pod', 'resized', '--subresource=resize', '--type=strategic', '-p'],
      JSON.stringify({ spec: { containers: [{ name: 'main', resources: resources('300m') }] } }),
    );
    assert.match(kubectl, /patched/);
  },
};

function resources(cpu: string): object {
  return { requests: { cpu }, limits: { cpu } };
}
