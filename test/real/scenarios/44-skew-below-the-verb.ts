import assert from 'node:assert/strict';
import type { Layout } from '../rig/control-plane.js';
import { layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, type Endpoint } from '../rig/http-client.js';
import type { Scenario, ScenarioContext } from '../scenario.js';

/**
 * No release from 1.33 to 1.37 adds a field label to a group and version that the one before it serves, so the option that only
 * the newer servers know is `sendInitialEvents`: server A has the feature switched off, as 1.33 has by default.
 */
export const skewBelowTheVerb: Scenario = {
  number: 44,
  name: 'reads with an option that only newer servers know are answered by one; /version as --version-view says',
  async run({ plane, namespace }) {
    await plane.arrange(layout({}));
    const ns = await namespace();
    const maps = `/api/v1/namespaces/${ns}/configmaps`;
    const made = await call(plane.a.straddle.admin, maps, { method: 'POST', body: { metadata: { name: 'one' } } });
    assert.equal(made.status, 201, made.text);

    const list = `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=2`;
    const straight = await call(plane.a.kube.admin, list);
    assert.equal(straight.status, 422, 'A itself must refuse sendInitialEvents');
    await answeredByNewer(plane, list);

    const refused = `${maps}?fieldSelector=data.nosuch%3Dx`;
    const positions = plane.all.map(({ kube }) => kube.auditPosition());
    for (const accept of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
      const here = await call(plane.a.kube.admin, refused, { headers: { accept } });
      const through = await call(plane.a.straddle.admin, refused, { headers: { accept } });
      assert.deepEqual([through.status, through.text], [400, here.text], 'not the refusal of A');
    }
    assert.deepEqual(served(plane, positions, 'data.nosuch'), { a: 6, 'b or c': 3 });

    const syntax = `${maps}?fieldSelector=nosuch`;
    const before = plane.all.map(({ kube }) => kube.auditPosition());
    assert.equal((await call(plane.a.straddle.admin, syntax)).status, 400);
    assert.deepEqual(served(plane, before, 'fieldSelector=nosuch'), { a: 1 });

    await versions(plane);
    await plane.arrange(layout({ 'reroute-unknown-options': 'false' }));
    assert.equal((await call(plane.a.straddle.admin, list)).status, 422, 'rerouted although switched off');
  },
};

function layout(flags: Parameters<typeof layoutOf>[1]): Layout {
  const { kube, straddle } = layoutOf('default', flags);
  const { a } = kube;
  assert.ok(a);
  return { kube: { ...kube, a: { ...a, flags: [...a.flags, '--feature-gates=WatchList=false'] } }, straddle };
}

type TestedPlane = ScenarioContext['plane'];

async function answeredByNewer(plane: TestedPlane, target: string): Promise<void> {
  const positions = plane.all.map(({ kube }) => kube.auditPosition());
  const through = await call(plane.a.straddle.admin, target);
  assert.equal(through.status, 200, through.text);
  assert.match(through.text, /"name":"one"/);
  assert.match(through.text, /k8s\.io\/initial-events-end/);
  assert.deepEqual(served(plane, positions, 'sendInitialEvents'), { a: 1, 'b or c': 1 });
  const metrics = await call(plane.a.straddle.admin, '/metrics');
  assert.match(metrics.text, /^straddle_unknown_options_total\{outcome="answered"\} 1$/m);
}

/** Returns how many requests for a target A, and the others together, have served as the caller. */
function served(plane: TestedPlane, positions: readonly number[], text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [index, { name, kube }] of plane.all.entries()) {
    const counted = new Set<string>();
    for (const { auditID, requestURI, user } of kube.auditSince(positions[index] ?? 0)) {
      if (!requestURI.includes(text) || counted.has(auditID)) continue;
      counted.add(auditID);
      assert.equal(user.username, 'rig-admin');
      const where = name === 'a' ? 'a' : 'b or c';
      counts[where] = (counts[where] ?? 0) + 1;
    }
  }
  return counts;
}

async function versions(plane: TestedPlane): Promise<void> {
  const version = async (endpoint: Endpoint): Promise<Answer> => call(endpoint, '/version');
  const [older, newer] = [(await version(plane.a.kube.admin)).text, (await version(plane.b.kube.admin)).text];
  assert.notEqual(older, newer);
  for (const { kube, straddle } of plane.all) {
    assert.equal((await version(straddle.admin)).text, (await version(kube.admin)).text, 'not its own version');
  }
  for (const [view, expected] of Object.entries({ oldest: older, newest: newer })) {
    await plane.arrange(layout({ 'version-view': view }));
    for (const { straddle } of plane.all) {
      await eventually(`the ${view} version`, async () => {
        assert.equal((await version(straddle.admin)).text, expected);
        return true;
      });
    }
  }
  const nobody = { url: plane.b.straddle.url, ca: plane.pki.ca.certPem, token: 'wrong' };
  assert.equal((await version(nobody)).status, 401, 'answered with a wrong token');
}
