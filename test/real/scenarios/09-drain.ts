import assert from 'node:assert/strict';
import { request } from 'node:https';
import { layoutOf } from '../rig/control-plane.js';
import { eventually, within } from '../rig/eventually.js';
import { call, type Endpoint, keepAliveAgent, openWatch } from '../rig/http-client.js';
import { Load, summary } from '../rig/load.js';
import type { Scenario } from '../scenario.js';
import { newerIn } from './newer-api.js';

const EXIT_WITHIN_MS = 15_000;

export const drain: Scenario = {
  number: 9,
  name: 'SIGTERM to a Straddle under load: in-flight requests end normally, new ones are refused, lease gone, exit 0',
  async run({ plane, namespace, defer }) {
    await plane.arrange(layoutOf('default'));
    const ns = await namespace();
    const { straddle } = plane.a;
    const leases = async (): Promise<string[]> =>
      (await call(plane.b.kube.admin, `${LEASES}?labelSelector=apiserver.kubernetes.io/identity=straddle`))
        .json<{ items: { metadata: { labels: Record<string, string> } }[] }>()
        .items.map(({ metadata }) => metadata.labels['kubernetes.io/hostname'] ?? '');
    assert.ok((await leases()).includes(plane.a.hostname), 'A’s Straddle has no lease');

    const agent = keepAliveAgent(20);
    defer(() => agent.destroy());
    const load = new Load({ ratePerSecond: 100, send: () => call(straddle.admin, newerIn(ns), { agent }) });
    defer(() => load.stop());
    await eventually('the load runs', () => load.count() > 100);
    const watch = await openWatch(straddle.admin, `/api/v1/namespaces/${ns}/configmaps?watch=1`);
    const watchEnded = drained(watch.events);
    const halfSent = await beginWrite(straddle.admin, `/api/v1/namespaces/${ns}/configmaps`, 'half-sent');

    // It must end by itself; if it does not, the next scenario needs it out of the way.
    defer(() => straddle.kill());
    const signalledMs = Date.now();
    straddle.process?.signal('SIGTERM');
    await eventually('new connections are refused', () => isRefused(straddle.anonymous));
    assert.equal(await halfSent.finish(), 201, 'a request under way must end normally');
    await within('the watch ends', EXIT_WITHIN_MS, watchEnded);
    const exit = await within('the Straddle ends', EXIT_WITHIN_MS, straddle.process?.exited ?? assert.fail());
    assert.deepEqual(exit, { code: 0, signal: null }, straddle.process?.logTail());
    assert.ok(Date.now() - signalledMs < EXIT_WITHIN_MS);
    assert.ok(!(await leases()).includes(plane.a.hostname), 'the lease is still there');

    const outcomes = await load.stop();
    const unclean = outcomes.filter(
      ({ status, error }) => status !== 200 && !(status === 0 && /ECONNREFUSED|ECONNRESET/.test(error ?? '')),
    );
    assert.deepEqual(unclean, [], summary(outcomes));
    // A reset is honest only where the request crossed the closing of its kept-alive connection.
    const resets = outcomes.filter(({ error }) => error?.includes('ECONNRESET'));
    assert.ok(resets.length <= 20, summary(outcomes));
  },
};

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

function isRefused(endpoint: Endpoint): Promise<boolean> {
  return call(endpoint, '/livez', { timeoutMs: 2_000 }).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  );
}

/** A create whose body is sent in two halves, the second one when told to. */
async function beginWrite(endpoint: Endpoint, path: string, name: string): Promise<{ finish(): Promise<number> }> {
  const body = JSON.stringify({ metadata: { name } });
  const sending = request(new URL(path, endpoint.url), {
    method: 'POST',
    ca: endpoint.ca,
    cert: endpoint.clientCert?.certPem,
    key: endpoint.clientCert?.keyPem,
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length), expect: '100-continue' },
  });
  const status = new Promise<number>((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
  });
  // The server has seen the head of the request for certain once it says to go on.
  await new Promise<void>((resolve, reject) => {
    sending.once('continue', resolve);
    sending.once('error', reject);
    sending.flushHeaders();
  });
  sending.write(body.slice(0, 5));
  return {
    finish: () => {
      sending.end(body.slice(5));
      return status;
    },
  };
}
