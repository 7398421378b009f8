import assert from 'node:assert/strict';
import { chosenServers } from '../rig/chosen-servers.js';
import type { EmbeddedPlane } from '../rig/embedded-plane.js';
import { eventually } from '../rig/eventually.js';
import { type Answer, call, type Endpoint, type KubeObject, keepAliveAgent, openWatch } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import type { KubeVersion } from '../rig/pinned-versions.js';
import { AGGREGATED_V2, layoutOf, type ServerName } from '../rig/plane.js';
import { StatusTrail } from '../rig/status-trail.js';
import { surfaceOf } from '../rig/surface-of.js';
import { POD_FIELDS } from '../rig/version-facts.js';
import { type Scenario, type ScenarioContext, Skipped } from '../scenario.js';
import { embeddedContext } from './24-embedded.js';
import { createNewer, newerApi, newerIn } from './newer-api.js';

export const embeddedSharedStore: Scenario = {
  number: 28,
  name: 'embedded: the older version keeps the fields of the newer one that it does not know; kill -9: the others go on, nothing is lost, watches continue, 503 while nobody knows',
  async run(outer) {
    const context = await embeddedContext(outer, 28);
    await context.plane.arrange(layoutOf('default'));
    const ns = await context.namespace();
    await unknownFieldsStay(context.plane, ns);
    await killedInAWriteStorm(context, ns);
    await nobodyLeftWhoKnows(context.plane, ns);
  },
};

/** A field of a pod template that A does not know and the others do. */
function newerPodField(): (typeof POD_FIELDS)[number] {
  const { a, b, c } = chosenServers();
  const isKnown = (version: KubeVersion, name: string): boolean => {
    const type = surfaceOf(version).types['io.k8s.api.core.v1.PodSpec'];
    return typeof type === 'object' && Object.hasOwn(type.fields ?? {}, name);
  };
  const found = POD_FIELDS.find(({ name }) => !isKnown(a, name) && isKnown(b, name) && isKnown(c, name));
  if (found === undefined) throw new Skipped(`no field of a pod is known to ${b} and ${c} and not to ${a}`);
  return found;
}

async function unknownFieldsStay({ a, b }: EmbeddedPlane, ns: string): Promise<void> {
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const path = `${deployments}/new`;
  const field = newerPodField();
  await ok(b.straddle.admin, deployments, { method: 'POST', body: deployment('new', { [field.name]: field.value }) });
  const seenBy = async (endpoint: Endpoint): Promise<unknown> =>
    (await ok(endpoint, path)).json()['spec'].template.spec[field.name];
  assert.equal(await seenBy(a.straddle.admin), undefined, 'A serves a field that it does not have');
  assert.deepEqual(await seenBy(b.straddle.admin), field.value);

  const patch = { headers: { 'content-type': 'application/merge-patch+json' }, method: 'PATCH' };
  await ok(a.straddle.admin, path, { ...patch, body: { metadata: { labels: { through: 'a' } } } });
  assert.deepEqual(await seenBy(b.straddle.admin), field.value, 'lost by a merge patch through A');

  const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' }, method: 'PATCH' };
  const containers = [{ name: 'main', image: 'example.test/other' }];
  await ok(a.straddle.admin, path, { ...strategic, body: { spec: { template: { spec: { containers } } } } });
  assert.deepEqual(await seenBy(b.straddle.admin), field.value, 'lost by a strategic merge patch through A');

  const whole = (await ok(a.straddle.admin, path)).json();
  await ok(a.straddle.admin, path, { method: 'PUT', body: { ...whole, spec: { ...whole['spec'], replicas: 3 } } });
  assert.deepEqual(await seenBy(b.straddle.admin), field.value, 'lost by a PUT through A');

  const apply = { headers: { 'content-type': 'application/apply-patch+yaml' }, method: 'PATCH' };
  const applied = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'new', annotations: { by: 'apply' } },
  };
  await ok(a.straddle.admin, `${path}?fieldManager=rig`, { ...apply, body: applied });
  assert.deepEqual(await seenBy(b.straddle.admin), field.value, 'lost by an apply through A');

  const { spec, metadata } = (await ok(b.straddle.admin, path)).json();
  assert.equal(spec.replicas, 3);
  assert.equal(spec.template.spec.containers[0].image, 'example.test/other');
  assert.equal(metadata?.labels?.['through'], 'a');
  assert.equal(metadata?.annotations?.['by'], 'apply');
}

const STORM_MS = 4_000;
const KILL_AFTER_MS = 1_500;

async function killedInAWriteStorm({ plane, defer }: ScenarioContext<EmbeddedPlane>, ns: string): Promise<void> {
  const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
  const group = await createNewer(plane.b.straddle.admin, ns, 'steady');
  const agent = keepAliveAgent(30);
  defer(() => agent.destroy());
  const storms = new Map(
    (['a', 'b', 'c'] as const).map((name) => [
      name,
      storm(plane.servers[name].straddle.admin, configMaps, name, agent),
    ]),
  );
  const watch = await watchThroughA(plane, ns);
  defer(() => watch.close());
  const reads = new Load({ ratePerSecond: 50, send: () => call(plane.a.straddle.admin, group, { agent }) });
  await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS));
  const before = await revisionOf(plane.c.straddle.admin, configMaps);
  for (let i = 0; i < 5; i++) await createNewer(plane.c.straddle.admin, ns, `before-${i}`);
  await plane.b.straddle.kill();
  for (let i = 0; i < 5; i++) await createNewer(plane.c.straddle.admin, ns, `after-${i}`);
  await new Promise((resolve) => setTimeout(resolve, STORM_MS - KILL_AFTER_MS));
  await Promise.all([...[...storms.values()].map(({ load }) => load.stop()), reads.stop()]);

  for (const name of ['a', 'c'] as const) {
    const { load } = storms.get(name)!;
    const failed = load.outcomes.filter(({ status }) => status !== 201);
    assert.ok(load.outcomes.length > 50, `only ${load.outcomes.length} writes through ${name}`);
    assert.deepEqual(failed, [], `writes through ${name} while b was killed: ${summary(failed)}`);
  }
  const wrong = reads.outcomes.filter(({ status }) => status !== 200);
  assert.deepEqual(wrong, [], `the newer API through a while b was killed: ${summary(wrong)}`);

  const wanted = ['before', 'after'].flatMap((when) => [0, 1, 2, 3, 4].map((i) => `ADDED ${when}-${i}`));
  await eventually('the watch has shown every change', () => watch.seen.length >= wanted.length);
  assert.deepEqual(watch.seen, wanted, 'a watch through a while b was killed');

  const startedMs = Date.now();
  await plane.b.straddle.start(plane.b.straddle.settings!);
  assert.ok(Date.now() - startedMs < 10_000, `b needed ${Date.now() - startedMs} ms to come back`);
  await nothingLost(plane, configMaps, storms);
  assert.ok((await revisionOf(plane.b.straddle.admin, configMaps)) > before, 'the revision went back');
}

/** Whichever of b and c serves it; b may be killed meanwhile. */
async function watchThroughA(plane: EmbeddedPlane, ns: string) {
  const listed = await ok(plane.a.straddle.admin, newerIn(ns));
  const from = listed.json().metadata?.resourceVersion;
  const watch = await openWatch(plane.a.straddle.admin, `${newerIn(ns)}?watch=1&resourceVersion=${from}`);
  assert.equal(watch.status, 200);
  const seen: string[] = [];
  void (async () => {
    for await (const { type, object } of watch.events) seen.push(`${type} ${object.metadata?.name}`);
  })().catch(() => {});
  return { seen, close: () => watch.close() };
}

/** Both newer servers are killed: whether an object of theirs exists is then unknown, and not "no". */
async function nobodyLeftWhoKnows({ a, b, c }: EmbeddedPlane, ns: string): Promise<void> {
  const trail = new StatusTrail(a.straddle.admin, newerIn(ns), (status) => status === 200 || status === 503);
  await eventually('the trail has begun', () => trail.current === '200');
  await Promise.all([b.straddle.kill(), c.straddle.kill()]);
  await eventually('a says that it does not know', () => trail.current === '503');
  assert.equal((await call(a.straddle.admin, '/api/v1/namespaces')).status, 200);
  const merged = (await ok(a.straddle.admin, '/apis', { headers: { accept: AGGREGATED_V2 } })).text;
  assert.ok(merged.includes(`"${newerApi().resource}"`), 'merged discovery forgot what only departed servers serve');
  await b.straddle.start(b.straddle.settings!);
  await eventually('a serves it again through b', () => trail.current === '200');
  await trail.stop();
  assert.deepEqual(trail.wrong, []);
}

interface Storm {
  readonly load: Load;
  readonly acknowledged: Set<string>;
}

function storm(endpoint: Endpoint, path: string, name: ServerName, agent: ReturnType<typeof keepAliveAgent>): Storm {
  const acknowledged = new Set<string>();
  const load = new Load({
    ratePerSecond: 40,
    send: async (index) => {
      const object = `${name}-${index}`;
      const answer = await call(endpoint, path, { method: 'POST', body: { metadata: { name: object } }, agent });
      if (answer.status === 201) acknowledged.add(object);
      return answer;
    },
  });
  return { load, acknowledged };
}

async function nothingLost(plane: EmbeddedPlane, path: string, storms: ReadonlyMap<string, Storm>): Promise<void> {
  const acknowledged = [...storms.values()].flatMap((each) => [...each.acknowledged]);
  for (const { name, straddle } of plane.all) {
    const { items } = (await ok(straddle.admin, path)).json<{ items: KubeObject[] }>();
    const there = new Set(items.map(({ metadata }) => metadata?.name));
    const lost = acknowledged.filter((each) => !there.has(each));
    assert.deepEqual(lost, [], `acknowledged writes that ${name} does not show`);
  }
}

async function revisionOf(endpoint: Endpoint, path: string): Promise<number> {
  return Number((await ok(endpoint, `${path}?limit=1`)).json().metadata?.resourceVersion);
}

async function ok(endpoint: Endpoint, path: string, options: Parameters<typeof call>[2] = {}): Promise<Answer> {
  const answer = await call(endpoint, path, options);
  assert.ok(answer.status === 200 || answer.status === 201, `${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  return answer;
}

function deployment(name: string, more: object): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example.test/nothing' }], ...more },
      },
    },
  };
}
