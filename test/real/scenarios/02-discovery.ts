import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { type Answer, call, type Endpoint } from '../rig/http-client.js';
import { AGGREGATED_V2, layoutOf, type Plane } from '../rig/plane.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { newerGroupVersion } from './newer-api.js';

const V2BETA1 = AGGREGATED_V2.replace('v=v2', 'v=v2beta1');
const NOPEER = `${AGGREGATED_V2};profile=nopeer`;

const ask = (endpoint: Endpoint, path: string, accept: string, more: Record<string, string> = {}): Promise<Answer> =>
  call(endpoint, path, { headers: { accept, ...more } });

export const mergedDiscovery = {
  number: 2,
  name: 'merged discovery: same bytes and ETag everywhere, nopeer as the raw server, v2beta1, 304, gzip, q order',
  async run({ plane }: ScenarioContext<Plane>) {
    await plane.arrange(layoutOf('default'));
    for (const path of ['/apis', '/api']) {
      const answers = await Promise.all(plane.all.map(({ straddle }) => ask(straddle.admin, path, AGGREGATED_V2)));
      for (const answer of answers) {
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.etag, answers[0]?.headers.etag, `${path}: the ETag differs between servers`);
        assert.ok(answer.body.equals(answers[0]?.body ?? Buffer.alloc(0)), `${path}: the bytes differ between servers`);
        assert.match(String(answer.headers['content-type']), /v=v2;as=APIGroupDiscoveryList/);
      }
    }
    const merged = await ask(plane.a.straddle.admin, '/apis', AGGREGATED_V2);
    assert.ok(versionsOf(merged).includes(newerGroupVersion()), `merged discovery lacks ${newerGroupVersion()}`);
    await localViewIsTheServersOwn(plane.all.map(({ straddle, kube }) => [straddle.admin, kube.admin]));
    await conditionalAndCompressed(plane.a.straddle.admin, merged);
    await negotiation(plane.a.straddle.admin, merged);
  },
} satisfies Scenario;

async function localViewIsTheServersOwn(pairs: readonly (readonly [Endpoint, Endpoint])[]): Promise<void> {
  for (const [straddle, kube] of pairs) {
    for (const path of ['/apis', '/api']) {
      const through = await ask(straddle, path, NOPEER);
      const straight = await ask(kube, path, NOPEER);
      assert.equal(through.status, 200);
      assert.ok(through.body.equals(straight.body), `${straddle.url}${path}: nopeer differs from the raw server's`);
    }
  }
}

async function conditionalAndCompressed(straddle: Endpoint, merged: Answer): Promise<void> {
  const etag = String(merged.headers.etag);
  assert.match(etag, /^"[^"]+"$/);
  const unchanged = await ask(straddle, '/apis', AGGREGATED_V2, { 'if-none-match': etag });
  assert.equal(unchanged.status, 304);
  assert.equal(unchanged.body.length, 0);
  assert.equal(unchanged.headers.etag, etag);
  const changed = await ask(straddle, '/apis', AGGREGATED_V2, { 'if-none-match': '"other"' });
  assert.equal(changed.status, 200);

  const zipped = await ask(straddle, '/apis', AGGREGATED_V2, { 'accept-encoding': 'gzip' });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.ok(gunzipSync(zipped.body).equals(merged.body), 'the gzip form holds something else');
  assert.equal(merged.headers['content-encoding'], undefined);
  assert.match(String(merged.headers.vary), /accept/i);
}

async function negotiation(straddle: Endpoint, merged: Answer): Promise<void> {
  const beta = await ask(straddle, '/apis', V2BETA1);
  assert.match(String(beta.headers['content-type']), /v=v2beta1/);
  assert.equal(beta.json()['apiVersion'], 'apidiscovery.k8s.io/v2beta1');
  assert.deepEqual(versionsOf(beta), versionsOf(merged));

  const typeOf = async (accept: string): Promise<string> =>
    String((await ask(straddle, '/apis', accept)).headers['content-type']);
  assert.match(await typeOf(`${V2BETA1};q=0.5,${AGGREGATED_V2};q=0.9`), /v=v2;/);
  assert.match(await typeOf(`${V2BETA1};q=0.9,${AGGREGATED_V2};q=0.5`), /v=v2beta1/);
  assert.match(await typeOf(`${AGGREGATED_V2},${V2BETA1}`), /v=v2;/);
  assert.equal((await ask(straddle, '/apis', `application/json,${AGGREGATED_V2};q=0.5`)).json().kind, 'APIGroupList');

  const unknown = await ask(straddle, '/apis', `${AGGREGATED_V2};profile=nosuch`);
  assert.ok(unknown.body.equals(merged.body), 'an unknown profile is answered merged');
}

function versionsOf(answer: Answer): string[] {
  const { items } = answer.json<{ items: { metadata: { name: string }; versions: { version: string }[] }[] }>();
  return items.flatMap((group) => group.versions.map(({ version }) => `${group.metadata.name}/${version}`));
}
