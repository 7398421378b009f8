import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../rig/api-client.js';
import { kubeProgram } from '../rig/binaries.js';
import type { ControlPlane } from '../rig/control-plane.js';
import { CONTROLLER_MANAGER_VERSION, ControllerManager } from '../rig/controller-manager.js';
import { eventually } from '../rig/eventually.js';
import { freePort } from '../rig/free-port.js';
import { StraddleApiserver } from '../rig/straddle-apiserver.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { churn } from './controllers/churn.js';
import { deploymentLife } from './controllers/deployments.js';
import { namespaceLife } from './controllers/namespaces.js';
import { ownersAcrossKinds } from './controllers/owners.js';
import { readingAt, requestsBetween } from './controllers/requests.js';
import { otherWorkloads } from './controllers/workloads.js';

const ADDRESS = '127.0.0.31';
const MINUTES = Number(process.env['STRADDLE_KCM_MINUTES'] ?? '0');
/** Short of the minutes that were asked for, the scenario takes about this long. */
const BASE_TIMEOUT_MS = 240_000;

/** All that are on by default, but for those that need a cloud or ranges of addresses for nodes. */
const CONTROLLERS = [
  '*',
  '-node-ipam-controller',
  '-cloud-node-lifecycle-controller',
  '-node-route-controller',
  '-service-lb-controller',
];

/** Errors in the log of controllers that are no problem, each with its reason. */
const EXPECTED_ERRORS: readonly RegExp[] = [
  // No file of further options was given.
  /The manifest file is empty, ignoring/,
  // A controller's own write has not come back by its watch yet; it waits and looks again.
  /read version: \d+ is not as new as written version: \d+/,
  // What it was about to change went away meanwhile, or its namespace is going.
  /sync .* failed with \S+ \\"\S+\\" not found/,
  /because it is being terminated/,
  /Server rejected event .* err="namespaces \\"\S+\\" not found"/,
  // Another controller was faster; it reads again and tries again.
  /Operation cannot be fulfilled on .*the object has been modified/,
];

/** In steady state only leases are renewed and quotas looked at; a controller that fights the server asks far more often. */
const STEADY_REQUESTS_PER_SECOND_MAX = 5;
const STEADY_MS = 10_000;

export const controllerManager: Scenario = {
  number: 22,
  name: 'a real kube-controller-manager works for `straddle apiserver`: deployments, cascades, owners, namespaces',
  timeoutMs: BASE_TIMEOUT_MS + MINUTES * 60_000,
  programs: () => [kubeProgram('kube-controller-manager', CONTROLLER_MANAGER_VERSION)],
  async run(context) {
    const { server, api, manager } = await startBoth(context);
    await namespaceLife(api);
    await deploymentLife(api);
    await ownersAcrossKinds(api);
    await otherWorkloads(api);
    await ownPages(manager);
    if (MINUTES > 0) await longChurn(api, server);
    await steadyState(api);
    assert.equal(manager.process.running, true, 'it still runs');
    assert.deepEqual(manager.errors(EXPECTED_ERRORS), []);
    await withoutServer(server, manager, api);
  },
};

async function startBoth({ plane, defer }: ScenarioContext) {
  const server = await startServer(plane);
  defer(() => server.stop());
  const api = new ApiClient(server.admin);
  defer(() => api.close());
  const manager = await ControllerManager.start({
    dir: server.options.dir,
    pki: plane.pki,
    address: ADDRESS,
    serverUrl: server.url,
    controllers: CONTROLLERS,
  });
  defer(() => manager.process.stop());
  return { server, api, manager };
}

async function startServer({ dir, pki }: ControlPlane): Promise<StraddleApiserver> {
  const own = join(dir, 'controllers');
  mkdirSync(own, { recursive: true });
  const port = await freePort(ADDRESS);
  const server = new StraddleApiserver({
    name: 'kcm',
    address: ADDRESS,
    port,
    dir: own,
    pki,
  });
  await server.start();
  return server;
}

/** Checks that the controller-manager authenticates and authorizes its callers by reviews at the API server. */
async function ownPages(manager: ControllerManager): Promise<void> {
  const health = await manager.page('/healthz');
  assert.equal(health.status, 200, health.text);
  const metrics = await manager.page('/metrics');
  assert.equal(metrics.status, 200, metrics.text.slice(0, 300));
}

async function longChurn(api: ApiClient, server: StraddleApiserver): Promise<void> {
  const before = await readingAt(api);
  const rounds = await churn(api, MINUTES * 60_000);
  const { perSecond } = requestsBetween(before, await readingAt(api));
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process?.pid}/status`, 'utf8')) ?? [];
  const megabytes = Math.round(Number(kilobytes) / 1024);
  process.stdout.write(
    `        ${rounds} namespaces came and went, ${perSecond.toFixed(0)} requests a second, ${megabytes} MB\n`,
  );
}

async function steadyState(api: ApiClient): Promise<void> {
  await eventually(
    `fewer than ${STEADY_REQUESTS_PER_SECOND_MAX} requests a second`,
    async () => {
      const before = await readingAt(api);
      await delay(STEADY_MS);
      const { perSecond, loudest } = requestsBetween(before, await readingAt(api));
      if (perSecond < STEADY_REQUESTS_PER_SECOND_MAX) return true;
      throw new Error(`${perSecond.toFixed(1)} a second, most of them ${loudest}`);
    },
    { timeoutMs: 60_000 },
  );
}

/** A server that dies and comes back: the controllers go on with their work. */
async function withoutServer(server: StraddleApiserver, manager: ControllerManager, api: ApiClient): Promise<void> {
  const collection = '/api/v1/namespaces';
  await server.kill();
  await server.start();
  await api.create(collection, { metadata: { name: 'after-the-kill' } });
  await eventually(
    'a new namespace gets its account after the server was killed',
    () => api.exists(`${collection}/after-the-kill/serviceaccounts/default`),
    { timeoutMs: 60_000 },
  );
  assert.equal(manager.process.running, true, 'it keeps its lease over a short absence of the server');
}
