import assert from 'node:assert/strict';
import { eventually } from '../rig/eventually.js';
import { call, openWatch } from '../rig/http-client.js';
import { layoutOf, type Plane } from '../rig/plane.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { newerApi, newerIn, newerObject, newerResource } from './newer-api.js';

export const newerApiThroughA = {
  number: 1,
  name: 'an API that only B and C serve, through A’s Straddle: get, create, patch, delete, watch; straight at A a 404',
  async run({ plane, namespace, defer }: ScenarioContext<Plane>) {
    await plane.arrange(layoutOf('default'));
    const ns = await namespace();
    const straddle = { context: 'straddle-a' };
    const resource = newerResource();
    const { field, kind, group } = newerApi();
    const kubectl = (...args: string[]) => plane.kubectl.run(straddle, '-n', ns, ...args);

    const straight = await call(plane.a.kube.admin, newerIn(ns));
    assert.equal(straight.status, 404, 'A itself must not know the resource');
    const straightKubectl = await plane.kubectl.try({ context: 'raw-a' }, '-n', ns, 'get', resource);
    assert.notEqual(straightKubectl.code, 0, 'kubectl straight at A must fail');

    const listed = await call(plane.a.straddle.admin, newerIn(ns));
    assert.equal(listed.status, 200, listed.text);
    const watch = await openWatch(
      plane.a.straddle.admin,
      `${newerIn(ns)}?watch=1&resourceVersion=${listed.json().metadata?.resourceVersion}`,
    );
    defer(() => watch.close());
    const seen: string[] = [];
    void (async () => {
      for await (const { type, object } of watch.events) seen.push(`${type} ${object.metadata?.name}`);
    })().catch(() => {});
    const kubectlWatch = plane.kubectl.start(straddle, '-n', ns, 'get', resource, '--watch', '--output-watch-events');
    defer(() => kubectlWatch.stop());

    await plane.kubectl.run({ ...straddle, input: newerObject('first') }, '-n', ns, 'create', '-f', '-');
    assert.equal(await kubectl('get', resource, 'first', '-o', `jsonpath={.spec.${field.path}}`), field.value);
    // A PodGroup is protected by a finalizer that a controller takes off; there is no controller here.
    const patch = { metadata: { labels: { patched: 'yes' }, finalizers: null } };
    await kubectl('patch', resource, 'first', '--type=merge', '-p', JSON.stringify(patch));
    assert.equal(
      await kubectl('get', resource, '-l', 'patched=yes', '-o', 'name'),
      `${kind.toLowerCase()}.${group}/first\n`,
    );
    await kubectl('delete', resource, 'first');
    const after = await plane.kubectl.try(straddle, '-n', ns, 'get', resource, 'first');
    assert.match(after.stderr, /NotFound/);

    await eventually('the watch has shown every change', () => seen.length >= 3);
    assert.deepEqual(seen, ['ADDED first', 'MODIFIED first', 'DELETED first']);
    await eventually('kubectl --watch has shown the deletion', () => /DELETED\s+first/.test(kubectlWatch.output()));
    assert.match(kubectlWatch.output(), /ADDED\s+first[\s\S]*MODIFIED\s+first[\s\S]*DELETED\s+first/);
  },
} satisfies Scenario;
